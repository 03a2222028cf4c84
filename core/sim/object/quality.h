/* The quality of service class of a pod, which follows from the resources of its containers.
 * Owner: a constant is given. May be called anywhere. */
#pragma once
#include <jansson.h>

/* Guaranteed, Burstable or BestEffort. `spec` has its defaults already. */
const char *sim_quality_of_service(const json_t *spec);
