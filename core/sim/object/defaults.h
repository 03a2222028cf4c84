/* Defaults that the server sets for fields that a body omits.
 * Owner: the object is the caller's and is changed in place.
 * May be called anywhere. */
#pragma once
#include <jansson.h>

#include "sim/object/kind.h"

/* With every write. */
void sim_apply_defaults(const struct sim_kind *kind, json_t *object);
/* With the first write only: the status and finalizers that an object starts with. */
void sim_apply_first_status(const struct sim_kind *kind, json_t *object);

/* --- Defaults of pods, which are the larger part of all defaults; see defaults.h.
 * Owner: the object is the caller's and is changed in place.
 * May be called anywhere. */

void sim_default_pod(json_t *pod);
/* Of pods and of the templates of pods. */
void sim_default_pod_spec(json_t *spec);
