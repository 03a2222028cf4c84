/* The clusters of an engine. Those beside the home cluster resolve the kinds of their own claims, and none of
 * them can stop, refuse or hold up the engine. Owner: the engine, on its thread. */
#pragma once
#include <sys/queue.h>

#include "engine/cluster.h"

struct other_cluster;

/* Of the engine; about clusters beside the home cluster. */
struct clusters_hooks {
    void (*changed)(void *ctx, struct informer_claim *claim);
    void (*synced)(void *ctx, const char *informer, size_t objects);
    void (*settled)(void *ctx); /* claims have synced, or will not for the time being */
    void (*found)(void *ctx);   /* kinds are known anew */
    /* A cluster is gone: its informers are to end. */
    void (*left)(void *ctx, const struct cluster_parts *parts);
    const char *(*script_of)(void *ctx, const struct informer_claim *claim);
    void *ctx;
};

struct clusters {
    struct cluster *home;
    struct clusters_hooks hooks;
    TAILQ_HEAD(other_cluster_list, other_cluster) list;
    uint64_t changes; /* counts those that came or went */
    struct timer ending;
};

void clusters_init(struct clusters *all, struct cluster *home, const struct clusters_hooks *hooks);
/* Takes the cluster. Its kinds are fetched by clusters_refresh_kinds. */
void clusters_add(struct clusters *all, struct cluster *cluster);
/* Has a cluster that comes and goes end: it has no name any more. From any callback of a factory. */
void clusters_leave(struct clusters *all, const struct cluster *cluster);
/* Refreshes the kinds of the others now. */
void clusters_refresh_kinds(const struct clusters *all);
/* Resolves claims of the others that have no informer yet by the kinds that are known. */
void clusters_resolve(struct clusters *all);
/* The home cluster for number 0, then the others; NULL after the last. */
struct cluster *clusters_at(const struct clusters *all, size_t at);
/* The clusters that scripts can name (host.h). */
struct cluster_names clusters_names(struct clusters *all);
/* End the others; the thread of the home cluster must still run. Call after scripts were freed. */
void clusters_end(struct clusters *all, int64_t flush_ms);
/* After that thread was stopped. */
void clusters_free(struct clusters *all);
