/* Target of a path: a resource, all or one namespace of it, one object, a subresource.
 * Owner: texts belong to the target; `served` is borrowed from the store and never goes away. */
#pragma once
#include "sim/store/request.h"
#include "sim/store/store.h"

struct sim_target {
    struct sim_served *served;
    char *namespace_;  /* NULL: all namespaces, or a cluster-scoped resource */
    char *name;        /* NULL: the collection */
    char *subresource; /* NULL: the object itself */
};

/* Parses a path; returns false if it has no served resource. */
bool sim_target_parse(struct sim_store *store, const char *path, struct sim_target *target);
/* Likewise of a kind without objects: reviews, bindings. Only their collections have paths. */
bool sim_target_parse_unstored(struct sim_store *store, const char *path, struct sim_target *target);
/* Is the path below what a server has handlers for: its core group, a group of its own, or a group and
 * version of custom kinds? */
bool sim_target_is_known(struct sim_store *store, const char *path);
void sim_target_clear(struct sim_target *target);
/* Returns the store's key of the object; a new string. */
char *sim_target_key(const struct sim_target *target, const char *name);
