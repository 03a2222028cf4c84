/* Roles and their bindings, evaluated as the RBAC authorizer of kube-apiserver does, from the objects in the
 * store. Owner: sim_rbac_free. Any thread, without the store's lock. */
#pragma once
#include "sim/store/api.h"

struct sim_rbac;

struct sim_rbac *sim_rbac_new(struct sim_api *api);
void sim_rbac_free(struct sim_rbac *rbac);
/* Returns whether a user (user.h) may do what the attributes say: verb, group, resource, subresource,
 * namespace, name; without a resource, path. `why` gets a new text that names the binding. */
bool sim_rbac_allows(struct sim_rbac *rbac, const json_t *user, const json_t *attributes, char **why);
/* Returns the rules that a user has in a namespace, and everywhere. A new reference. */
json_t *sim_rbac_rules(struct sim_rbac *rbac, const json_t *user, const char *namespace_);
