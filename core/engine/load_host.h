/* Host on which scripts are loaded where nothing is to run: informers wait for a catalogue that never comes,
 * so that no server is contacted. What scripts print while they load goes to stderr: stdout has the document
 * of the command. Owner: the command, on the main thread; scripts are freed first. */
#pragma once
#include "engine/engine_settings.h"
#include "kube/api/list_watch.h"
#include "script/vm/turns.h"

struct load_host {
    struct loop *loop;
    struct turns turns;
    struct cluster_parts parts;  /* without a server */
    struct named_cluster *named; /* as many clusters as scripts name, each with the parts of the first */
    struct script_host host;     /* to be used by the loader */
};

/* The host borrows what the settings point to. */
void load_host_open(struct load_host *dry, const struct engine_settings *settings);
/* Like the above, for a caller that provides a catalogue later: caches are filled from these sources
 * (shared_factory.h). */
void load_host_open_on(struct load_host *dry, const struct engine_settings *settings,
                       struct list_watch *(*new_source)(void *ctx, const struct resource *resource,
                                                        const struct lw_scope *scope),
                       void *ctx);
/* Fills the caches of the kinds that the catalogue has. It may be called again with one that has more. */
void load_host_fill(struct load_host *dry, const struct catalogue *catalogue);
void load_host_close(struct load_host *dry);
