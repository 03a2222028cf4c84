/* Discovery documents of the server: /api, /apis, the lists of resources, /version.
 * Owner: a new reference each. May be called anywhere, the kinds must not change meanwhile. */
#pragma once
#include "base/str.h"
#include "sim/object/kind.h"

/* The answer to a GET of `path` (without query), in the legacy or, when `accept` asks for it and the path has
 * one, in the aggregated form. `*content_type` is a constant. NULL when the path is none of discovery's, or
 * names a group or version that is not there. Kinds that are gone are left out. */
json_t *sim_discovery(const char *path, const char *accept, const struct sim_kind *const *kinds, size_t n,
                      const char **content_type);

/* --- Internals shared by the legacy and the aggregated form of discovery.
 * Owner: a new reference each; kinds are borrowed.
 * May be called anywhere. */

struct sim_discovered {
    const struct sim_kind *const *kinds;
    size_t n;
};

/* The kind behind `after` (NULL: the first) of a group, and of a version unless that is {NULL, 0}. */
const struct sim_kind *sim_discovery_next(const struct sim_discovered *d, const struct sim_kind *after,
                                          struct str group, struct str version);
/* Is the kind at this place the first of its group, or of its group's version? */
bool sim_discovery_first(const struct sim_discovered *d, size_t at, bool by_version);
void sim_discovery_names(json_t *resource, const struct sim_kind *kind);
json_t *sim_discovery_verbs(const struct sim_kind *kind);
json_t *sim_discovery_subresource_verbs(void);

/* The content type of the aggregated form that an Accept header prefers, NULL when it prefers the legacy one.
 */
const char *sim_discovery_aggregated_type(const char *accept);
json_t *sim_discovery_aggregated(const struct sim_discovered *d, bool core, const char *content_type);
