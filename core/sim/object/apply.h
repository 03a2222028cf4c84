/* Server-side apply, of custom kinds alone: without a schema lists are replaced as a whole, which is what the
 * real server does to lists of a CRD that say nothing else. A field that its manager applied before and does
 * not apply any more goes. There are no conflicts: each apply is a forced one.
 * Owner: a new reference; what is handed in is borrowed and not changed. May be called anywhere. */
#pragma once
#include <stdint.h>

#include <jansson.h>

struct sim_apply {
    const json_t *given; /* the configuration */
    const char *manager;
    int64_t now_s;
};

/* Returns the result; `old` NULL: creates the object. */
json_t *sim_applied(const json_t *old, const struct sim_apply *apply);
