/* Whether two states of a key are the same state (B-4).
 * Owner: nothing; any thread that holds both. */
#pragma once
#include <stdbool.h>

#include "object/value/value.h"

/* Another version of its group is another shape of the same object, although nothing was written. */
static inline bool same_api_version(const struct root *a, const struct root *b)
{
    struct text text_a, text_b;
    return str_eq(value_str(value_field(root_value(a), STR("apiVersion")), &text_a),
                  value_str(value_field(root_value(b), STR("apiVersion")), &text_b));
}

/* The same object, or one that only its version text and uid prove the same. */
static inline bool is_unchanged(const struct root *a, const struct root *b)
{
    struct text text_a, text_b;
    if (a == b) return true;
    struct str version = root_resource_version(a, &text_a);
    if (version.n == 0 || !str_eq(version, root_resource_version(b, &text_b))) return false;
    return str_eq(root_uid(a, &text_a), root_uid(b, &text_b)) && same_api_version(a, b);
}
