/* One condition on an object: compares the values at a path with one value or several. It holds if it holds
 * for any of them; a path that matches nothing counts as one null. Owner: the caller of condition_new frees
 * it by condition_free. Immutable; may be used by any thread. */
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
    CONDITION_MATCHES, /* a string that a pattern with * and ? matches completely */
};

struct condition;

/* =, ==, ~=, !=, <, <=, >, >=, in, matches; false for all else. */
bool condition_op_of(struct str name, enum condition_op *op);
/* Creates a condition; copies everything. All operators except `in` take one value. Null and booleans have no
 * order, and only a string can be a pattern: NULL with an error then, or if the path is invalid. */
struct condition *condition_new(struct str path, enum condition_op op, const struct scalar *values,
                                size_t count, struct err *err);
void condition_free(struct condition *condition);
/* Borrowed. */
const struct path *condition_path(const struct condition *condition);
bool condition_holds(const struct condition *condition, struct value object);
/* Returns the value that an index of this path can be searched for, of an equality. False if there is
 * none. */
bool condition_equality(const struct condition *condition, struct str *path, const struct scalar **value);
