/* Roles and their bindings, evaluated as the RBAC authorizer of kube-apiserver does, from the objects in the
 * store. Owner: sim_rbac_free. Any thread, without the store's lock. */
#pragma once
#include "sim/store/api.h"

struct sim_rbac;

/* One request that is to be allowed. Without a `resource` it is about the path. */
struct sim_attributes {
    const char *verb;
    const char *group, *resource, *subresource; /* "" for none */
    const char *namespace_, *name;              /* "" for none */
    const char *path;                           /* of what is no resource; else "" */
};

/* Returns them as lua/sim/access.lua reads them. */
json_t *sim_attributes_json(const struct sim_attributes *attributes);

struct sim_rbac *sim_rbac_new(struct sim_api *api);
void sim_rbac_free(struct sim_rbac *rbac);
/* Returns whether a user (user.h) may do it; `why` gets a new text that names the binding. */
bool sim_rbac_allows(struct sim_rbac *rbac, const json_t *user, const struct sim_attributes *attributes,
                     char **why);
/* Returns the rules that a user has in a namespace, and everywhere. A new reference. */
json_t *sim_rbac_rules(struct sim_rbac *rbac, const json_t *user, const char *namespace_);
