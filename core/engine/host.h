/* The host of scripts (script/vm/host.h), filled here alone, whether they run, are only loaded, or are specs.
 * Owner: the caller; it borrows the parts and what the settings point to. */
#pragma once
#include "engine/engine_settings.h"

/* Parts of a host; NULL for those it lacks. */
struct host_parts {
    const struct cluster_parts *cluster;
    struct loop *loop;
    struct turns *turns;
    struct web *web;
    struct webhook_paths *webhooks;
    struct running *running;
    struct cpu_watch *watch;
    struct write_log *audit;
    bool (*is_given_up)(void *ctx, const struct script *script, const char *id);
    void *is_given_up_ctx;
    void (*attached)(void *ctx);
    void *attached_ctx;
    bool print_waits;
};

struct script_host host_of(const struct host_parts *parts, const struct engine_settings *settings);
