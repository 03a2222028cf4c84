/* Defaults of pods, which are the larger part of all defaults; see defaults.h.
 * Owner: the object is the caller's and is changed in place.
 * May be called anywhere. */
#pragma once
#include <jansson.h>

void sim_default_pod(json_t *pod);
/* Of pods and of the templates of pods. */
void sim_default_pod_spec(json_t *spec);
