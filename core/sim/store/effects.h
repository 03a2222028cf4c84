/* Effects of a change beyond its own object: CRDs add and remove kinds, namespaces remove their content.
 * Owner: none; objects are borrowed, complete. Called without the store's lock, after the change. */
#pragma once
#include "sim/store/api.h"

/* Returns a Status if nothing may be created in that namespace, because it is missing or terminating. */
json_t *sim_effects_namespace_refuses(struct sim_api *api, const struct sim_kind *kind,
                                      const char *namespace_, const char *name);
void sim_effects_stored(struct sim_api *api, const struct sim_served *served, const json_t *object);
/* Call when the object was marked for deletion. */
void sim_effects_deleting(struct sim_api *api, const struct sim_served *served, const json_t *object);
void sim_effects_removed(struct sim_api *api, const struct sim_served *served, const json_t *object);
