/* Objects of a cluster besides its workloads: nodes and namespaces, always the same ones.
 * Owner: the store. Called before the server starts. */
#pragma once
#include "sim/store/store.h"

void sim_node_name(size_t number, char *out, size_t room);
void sim_load_nodes(struct sim_store *store, size_t count);
/* default, kube-system, ..., and `teams` namespaces team-000, ... */
void sim_load_namespaces(struct sim_store *store, size_t teams);
/* Sorts them by key and puts them into an empty resource of the core group; takes the objects. */
void sim_load_sorted(struct sim_store *store, const char *plural, struct sim_object **objects, size_t n);
