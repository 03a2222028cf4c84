/* The resources that are there without any CustomResourceDefinition: pods, nodes, deployments, events, ...
 * Owner: nobody, the tables are constant and live as long as the process.
 * Every function may be called anywhere. */
#pragma once
#include "sim/object/kind.h"

/* All of them, in the order in which discovery names them. Borrowed. */
const struct sim_kind *const *sim_builtin_kinds(size_t *count);
/* "v1" or "apps/v1": the apiVersion of the kind's objects; a new string. */
char *sim_api_version(const struct sim_kind *kind);
/* "pods" or "deployments.apps": how messages name the resource; a new string. */
char *sim_qualified_resource(const struct sim_kind *kind);
/* "Pod" or "Deployment.apps": how messages of invalid objects name the kind; a new string. */
char *sim_qualified_kind(const struct sim_kind *kind);
