/* Fields that stand twice in an object of JSON text, which parsed JSON does not show. Owner: the result is a
 * new reference. May be called anywhere. */
#pragma once
#include <jansson.h>

#include "base/str.h"
#include "schema/schema.h"

/* Returns an array of `duplicate field "spec.foo"` in the order of the text, which must be valid JSON; with a
 * type, also of `unknown field "spec.foo"`, which is no duplicate. `as_yaml`: of `line 1: key "foo" already
 * set in map`. */
json_t *sim_duplicates(struct str text, const struct schema_type *type, bool as_yaml);
