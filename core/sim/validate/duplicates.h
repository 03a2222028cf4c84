/* Fields that stand twice in an object of JSON text, which parsed JSON does not show. Owner: the result is a
 * new reference. May be called anywhere. */
#pragma once
#include <jansson.h>

#include "base/str.h"

/* Returns an array of `duplicate field "spec.foo"` in the order of the text, which must be valid JSON;
 * `as_yaml`: of `line 1: key "foo" already set in map`. */
json_t *sim_duplicates(struct str text, bool as_yaml);
