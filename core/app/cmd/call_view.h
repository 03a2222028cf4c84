/* What a command of a script returned, for people: aligned tables of tables. Owner: everything borrowed. */
#pragma once
#include "base/buf.h"
#include "object/parse/tape.h"

/* Rows of an array are a line each: of maps with a column for each key, of arrays with one for each element,
 * the first row being headings; of anything else the value. A map is two columns, or a column for each key of
 * the maps in it. Values deeper inside are compact JSON. */
void call_view_table(const struct tape *tape, size_t at, struct buf *out);
