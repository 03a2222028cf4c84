/* JSONPath of additionalPrinterColumns: one value of an object. Owner: values are borrowed from the object.
 * May be called anywhere. */
#pragma once
#include <stdbool.h>

#include <jansson.h>

/* .a.b, ['a'], [0], [-1], [*], .*, ..a, and filters [?(@.type=="Ready")]; dots in keys are escaped by a
 * backslash. */
bool sim_jsonpath_valid(const char *path);
/* Returns the first value that `path` leads to, NULL for none. */
json_t *sim_jsonpath_first(const json_t *object, const char *path);
