/* The resources that are there without any CustomResourceDefinition: pods, nodes, deployments, events, ...
 * Owner: nobody, the tables are constant and live as long as the process.
 * Every function may be called anywhere. */
#pragma once
#include "sim/object/kind.h"

/* All of them, in the order in which discovery names them. Borrowed. */
const struct sim_kind *const *sim_builtin_kinds(size_t *count);
