/* Saving of caches for a later run: now and then and at the end, in a forked child, so that neither thread
 * waits for the disk. Owner: the engine, on the engine thread. */
#pragma once
#include "engine/warm/warm_start.h"
#include "informer/shared/shared_factory.h"
#include "net/loop.h"

struct cache_saver;

struct cache_saver_options {
    struct loop *engine_loop, *io_loop;
    const struct warm_start *warm;
    struct shared_factory *factory;
    const struct pool *pool; /* of the informers' objects */
    /* Calls `add` for each handler that is done with the caches as they are. */
    void (*each_handler)(void *ctx, void (*add)(void *to, const char *script, const char *handler), void *to);
    void *ctx;
};

struct cache_saver *cache_saver_new(const struct cache_saver_options *options);
/* Begins to save. `cluster` identifies the caches' cluster. */
void cache_saver_begin(struct cache_saver *saver, const char *cluster);
/* Saves once more, and waits at most so long. While informers and scripts exist. */
void cache_saver_finish(struct cache_saver *saver, int64_t wait_ms);
/* Ends a child that still saves. NULL is allowed. */
void cache_saver_free(struct cache_saver *saver);
