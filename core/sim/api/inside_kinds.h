/* More kinds for the simulator inside of a process.
 * Owner: the store has what is served. Without the store's lock. */
#pragma once
#include "sim/store/store.h"

/* Kubernetes' own kinds that are not built in. */
void sim_inside_serve_more(struct sim_store *store);
/* Any kind, as if a CustomResourceDefinition had made it; nothing when it is served already. Texts are
 * copied. */
void sim_inside_serve_kind(struct sim_store *store, const char *group, const char *version,
                           const char *plural, const char *name, bool namespaced);
