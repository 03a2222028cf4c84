/* Internals shared by leadership.c (the engine thread's half) and leadership_io.c (the I/O thread's); see
 * leadership.h. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "base/err.h"
#include "informer/leader/leadership.h"

/* News from one half to the other. */
struct leader_news {
    struct fence *fence; /* a reference; NULL if it does not lead */
    char *holder;        /* owned */
    struct err err;
    int64_t transitions, since_us;
    bool released;
};

struct leadership {
    struct leaders *leaders;
    /* Constant after creation. */
    char *namespace_, *name;
    struct leader_times times;
    char **labels; /* key, value, ... */
    size_t label_count;
    uint64_t seed;

    size_t claims; /* of the engine thread; 0 is final: a later join creates another leadership */

    struct mail start, release, stop; /* to the I/O thread */

    /* Guarded by the lock of `leaders`. */
    struct leader_news posted;
    bool has_news;

    _Atomic int64_t renewed_ms; /* L-11; 0 if it does not lead */
    _Atomic int64_t seen_ms;    /* as in leader_status */

    /* Used by the engine thread alone. */
    struct leader_news current;

    /* Used by the I/O thread alone. */
    struct leader *leader;
    struct object_call *call;
    int64_t alone_until_ms;    /* until then requests use connections of their own */
    struct object_call *event; /* in flight; NULL for none */
    bool led;                  /* the last event was "became leader" */
    void (*done)(void *ctx, struct root *lease, const struct err *err);
    void *done_ctx;
};

struct leaders {
    struct leaders_options options;
    char *identity;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    struct leadership **items; /* changed with the lock held */
    size_t count;
    size_t running;      /* candidates on the I/O thread; guarded by the lock */
    struct waker *waker; /* wakes the engine thread for news */
    bool started, releasing;
    void (*released)(void *ctx); /* NULL if no caller waits for it */
    void *released_ctx;
};

void leader_news_clear(struct leader_news *news);

/* Deliveries on the I/O thread. */
void leadership_io_start(struct mail *mail);
void leadership_io_release(struct mail *mail);
void leadership_io_stop(struct mail *mail);
