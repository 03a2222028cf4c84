/* What a path finds in an object, as values of an index: strings as they are, numbers as decimals (1.0 is 1),
 * booleans as true and false. Null, maps and arrays are no values.
 * Owner: the source belongs to the index it is given to. On any thread. */
#pragma once
#include "informer/store/index.h"
#include "object/value/value.h"

/* Compiles the path; false with an error that names the place. */
bool index_source_of_path(struct str path, struct index_source *out, struct err *err);
/* Appends the text of a scalar; false when `value` is none. */
bool index_text(struct value value, struct buf *out);
/* The text of a number, the same for 1 and 1.0. */
void index_number(double number, struct buf *out);
