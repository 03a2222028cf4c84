/* Internals of a feed, shared by feed.c and feed_shard.c; see feed.h. */
#pragma once
#include <pthread.h>

#include "base/time/backoff.h"
#include "informer/reflect/feed.h"
#include "informer/shard/shard_filter.h"

struct feed {
    struct feed_options options;
    char *name;
    struct mail start, restart, stop;
    struct followed *followed;   /* NULL: all namespaces */
    struct shard_filter *shard;  /* NULL: all slots */
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
    bool restarting, ended;      /* guarded by `lock` */
};

/* Creates and starts its reflector. */
void feed_start_reflector(struct feed *feed);
/* Frees its reflector, if there is one. */
void feed_end_reflector(struct feed *feed);
