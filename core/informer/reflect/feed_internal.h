/* Internals of a feed, shared by feed.c and feed_shard.c; see feed.h. */
#pragma once
#include <pthread.h>

#include "base/time/backoff.h"
#include "informer/reflect/feed.h"
#include "informer/reflect/gains.h"
#include "informer/shard/shard_filter.h"

struct feed {
    struct feed_options options;
    char *name;
    struct mail start, restart, stop;
    struct followed *followed;   /* NULL: all namespaces */
    struct shard_filter *shard;  /* NULL: all slots */
    struct shard_filter gained;  /* of the list of gained slots */
    struct gains *gains;         /* NULL: all slots */
    int64_t generation;          /* of its slots */
    struct prepare *ready;       /* used on the I/O thread alone, as are the next three */
    struct reflector **finished; /* of single namespaces, to be freed outside of their callbacks */
    size_t finished_count;
    struct timer free_finished;
    struct jitter
        seeds; /* a new seed for each reflector, so that its delays differ from those of the one before */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct reflector *reflector; /* guarded by `lock`; created, used and freed on the I/O thread */
    struct reflector *listing;   /* likewise: that of gained slots; NULL: none */
    bool restarting, ended;      /* guarded by `lock` */
};

/* Makes a feed of slots of this one. */
void feed_share(struct feed *feed);
/* Starts a reflector that ends with its list, about which `listed` is told. */
struct reflector *feed_start_list(struct feed *feed, const struct reflector_options *options,
                                  const struct lw_scope *scope);
/* Ends such a list, from its own callback too. */
void feed_end_list(void *feed, void *list);
/* Lists all anew. */
void feed_relist(void *feed);
/* Creates and starts its reflector. */
void feed_start_reflector(struct feed *feed);
/* Frees its reflector, if there is one. */
void feed_end_reflector(struct feed *feed);
