/* Causes of a 422 Status, in the words of apimachinery's field errors. Owner: a new reference is returned.
 * May be called anywhere. */
#pragma once
#include <jansson.h>

#include "base/buf.h"
#include "sim/lua/lua.h"

/* Returns one cause of a 422. `type` is FieldValueInvalid, FieldValueRequired, FieldValueForbidden, ...;
 * `value` (may be NULL) is shown with those types that show one; `detail` may be "". */
json_t *sim_cause(const char *type, const char *field, const json_t *value, const char *detail);
/* Appends a cause for the string for each of the `problems`, sentences joined by "; "; empties them. */
void sim_add_problems(json_t *causes, const char *field, const char *text, struct buf *problems);
/* Appends a cause for each problem that a function of lua/sim/ found: lists of type, field, detail and value.
 * A problem that is a text is a warning. */
void sim_add_found(json_t *causes, const json_t *found);
/* Calls a function that is ready to be called, and appends a cause for each problem that it finds. */
void sim_add_causes(json_t *causes, lua_State *L);
