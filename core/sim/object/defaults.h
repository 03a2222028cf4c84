/* Defaults that the server sets for fields that a body omits: what each kind's JSON in kinds.json says, and
 * what follows from other fields. In that JSON "a": {...} makes the map when it is not there, "a?": {...}
 * goes on only where it is there, "a[]": {...} is for each map in the list, and "": {...} for the map itself.
 * Owner: the object is the caller's and is changed in place.
 * May be called anywhere. */
#pragma once
#include <jansson.h>

#include "sim/object/kind.h"

/* Sets the defaults of every write. */
void sim_apply_defaults(const struct sim_kind *kind, json_t *object);
/* Sets the status and finalizers of the first write only. */
void sim_apply_first_status(const struct sim_kind *kind, json_t *object);
