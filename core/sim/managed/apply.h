/* Server-side apply: merges a configuration into an object by the shapes of its fields, and keeps their
 * owners. Owner: a new reference; what is handed in is borrowed and not changed. May be called anywhere. */
#pragma once
#include "sim/managed/managed.h"

struct sim_apply {
    const json_t *given; /* the configuration */
    bool force;          /* takes over fields of other managers */
    struct sim_author author;
};

/* Returns the object with its managers, to be written as an update, or as a create if `live` is NULL. NULL
 * with a refusal: a conflict, or a configuration that does not fit. */
json_t *sim_applied(const struct sim_kind *kind, const json_t *live, const struct sim_apply *apply,
                    struct sim_refusal *refusal);
