/* One condition on an object: what a path finds, compared with one value or several. With a path that finds
 * many values it holds when it holds for any of them; a path that finds none finds one null.
 * Owner: condition_new's caller frees by condition_free. Immutable; may be used by any thread. */
#pragma once
#include "base/err.h"
#include "object/value/path.h"
#include "object/value/scalar.h"

enum condition_op {
    CONDITION_EQUAL,
    CONDITION_NOT_EQUAL,
    CONDITION_LESS,
    CONDITION_LESS_EQUAL,
    CONDITION_GREATER,
    CONDITION_GREATER_EQUAL,
    CONDITION_IN,      /* equal to any of several */
    CONDITION_MATCHES, /* a text that a pattern with * and ? covers as a whole */
};

struct condition;

/* =, ==, ~=, !=, <, <=, >, >=, in, matches; false for all else. */
bool condition_op_of(struct str name, enum condition_op *op);
/* Copies everything. All operators but `in` take one value. Null and booleans have no order, and only a text
 * can be a pattern: NULL with an error says so, and what is wrong with a path. */
struct condition *condition_new(struct str path, enum condition_op op, const struct scalar *values,
                                size_t count, struct err *err);
void condition_free(struct condition *condition);
bool condition_holds(const struct condition *condition, struct value object);
/* Returns the value that an index of this path can be searched for, of an equality. False if there is
 * none. */
bool condition_equality(const struct condition *condition, struct str *path, const struct scalar **value);
