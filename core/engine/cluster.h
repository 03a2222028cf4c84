/* Parts of an engine that belong to one cluster: the client with its thread, discovery, caches, live reads,
 * elections and Events. None of it belongs to the process, so that a second cluster is a second struct. A
 * driver creates it and passes it to an engine. Owner: the engine, on its thread; its functions receive a
 * cluster as their ctx. */
#pragma once
#include "engine/bucket/bucket.h"
#include "engine/discoverer.h"
#include "engine/engine_settings.h"
#include "engine/io_thread.h"
#include "engine/warm/warm_start.h"
#include "informer/group/shards.h"
#include "informer/leader/leadership.h"
#include "informer/live/live_client.h"
#include "informer/shared/shared_factory.h"
#include "kube/event/event_recorder.h"
#include "kube/kinds/kinds.h"
#include "script/vm/host.h"

struct cluster_options {
    struct loop *engine_loop;
    struct loop *io_loop; /* the engine's, borrowed; NULL: one with a thread of its own */
    const struct cluster_config *config;
    struct http_local *server; /* in this process; NULL: the network */
    /* Objects and kinds come from there, and the server is for requests of scripts alone; borrowed; NULL:
     * they are the server's. */
    const struct bucket_place *from;
    bool has_no_server; /* then, if none is configured: `config` is cluster_config_set_none's */
    const struct engine_settings *settings;
    struct warm_start *warm;      /* borrowed; NULL: no caches are stored */
    bool is_quiet;                /* of discovery */
    const char *name;             /* of a cluster beside the home cluster; copied; NULL: that one */
    struct cluster *home;         /* of such a cluster, which shares its thread and pool; borrowed */
    struct cluster_config *owned; /* `config`, if it is taken when this succeeds; NULL: it is borrowed */
    bool comes_and_goes;          /* while the engine runs: scripts hold it */
};

/* Observer of a cluster: of the factory, of discovery and of elections, as their headers have them. */
struct cluster_watcher {
    void (*changed)(void *ctx, struct informer_claim *claim);
    void (*synced)(void *ctx, const char *informer, size_t objects);
    void (*found_kinds)(void *ctx, const struct catalogue *catalogue);
    void (*failed_kinds)(void *ctx, const struct err *err);
    void (*leads)(void *ctx);
    void (*shards)(void *ctx); /* of the group of replicas, as their header has it */
    void *ctx;
};

struct cluster {
    struct cluster_options options;
    char *name;   /* as its option */
    size_t users; /* holds of scripts, if it comes and goes */
    struct cluster_watcher watcher;
    uint64_t seed; /* seed of random delays; 0: an engine on one loop repeats them */
    struct io_thread *io;
    struct object_bucket *bucket; /* NULL: objects are read from the server */
    struct no_server *no_server;  /* NULL: there is one */
    struct discoverer *discoverer;
    struct cluster_parts parts; /* latest result of discovery */
};

/* NULL when there is no client for the configuration. */
struct cluster *cluster_new(const struct cluster_options *options, struct err *err);
/* Returns the address of its server; "": it has none. */
const char *cluster_server(const struct cluster *cluster);
/* Before a loop turns. */
void cluster_watch(struct cluster *cluster, const struct cluster_watcher *watcher);
/* Refreshes the kinds of the server now. */
void cluster_refresh_kinds(void *cluster);
/* Ends reflectors on the I/O thread, then that thread. Call after scripts were freed. Events have `flush_ms`
 * to be sent. */
void cluster_end(struct cluster *cluster, int64_t flush_ms);
/* After cluster_end, the home cluster last. NULL is allowed, here and there. */
void cluster_free(struct cluster *cluster);
