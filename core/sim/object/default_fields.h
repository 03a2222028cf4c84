/* Defaults of an object's fields by the schema of its kind (core/schema/). Owner: the object is the caller's
 * and is changed in place. May be called anywhere. */
#pragma once
#include <jansson.h>

#include "schema/schema.h"

/* Sets what a server sets whose JSON has all fields that are always there; `finish` adds to each object
 * below, from the inside out, what its type needs besides. Metadata stays as it is, and a status is not made.
 */
void sim_default_fields(const struct schema_kind *schema, json_t *object,
                        void (*finish)(const char *type, json_t *object));
