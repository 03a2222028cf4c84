/* Discovery documents of the server: /api, /apis, the lists of resources, /version.
 * Owner: a new reference each. May be called anywhere, the kinds must not change meanwhile. */
#pragma once
#include "base/str.h"
#include "sim/object/kind.h"

/* The response to a GET of `path` (without query), in the legacy or, when `accept` asks for it and the path
 * has one, in the aggregated form. `*content_type` is a constant. NULL when the path is none of discovery's,
 * or names a group or version that is not there. Kinds that are gone are left out. `host`: where the client
 * has found the server; may be NULL. */
json_t *sim_discovery(const char *path, const char *accept, const char *host,
                      const struct sim_kind *const *kinds, size_t n, const char **content_type);
/* Returns the kinds as lua/sim/discovery.lua and openapi.lua read them. */
json_t *sim_kinds_json(const struct sim_kind *const *kinds, size_t n);
/* Returns an array; NULL for NULL. */
json_t *sim_strings_json(const char *const *list);
