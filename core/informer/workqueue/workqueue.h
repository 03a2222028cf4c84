/* A work queue as client-go's (contract W-1..W-12, V25): keys in order, each once, none with two workers at a
 * time, with delays and retries. A key that is added while it is worked on comes again when that work is
 * done. Owner: who made it, on one thread with its clock. Nothing here calls back but `ready` and `wake`, and
 * those may not call the queue; all else may be called from anywhere on that thread. */
#pragma once
#include <sys/queue.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "informer/workqueue/rate_limiter.h"

struct workqueue;

/* Keys are 4096 bytes long at most: two names of Kubernetes and much more. */
enum { WORKQUEUE_KEY_MAX = 4096 };

/* A bound that queues may share. A key counts as long as it waits, is worked on or has failures. */
struct workqueue_quota {
    size_t keys, max;
    size_t bytes; /* that they take, about */
};

struct workqueue_options {
    const char *name, *script; /* labels of its series, copied; without a name it has none (W-11) */
    struct clock *clock;
    struct rate_limiter limiter; /* copied */
    struct workqueue_quota *quota;
    void (*ready)(void *ctx); /* there is something to get, and nobody waits for it */
    void *ctx;
    int64_t (*measure_ns)(void); /* for the series; NULL: clock_measure_ns */
};

struct workqueue *workqueue_new(const struct workqueue_options *options);
/* Nobody may wait any more. */
void workqueue_free(struct workqueue *queue);

/* --- keys in. False with ERR_LIMIT for a new key that is too long or one too many; nothing changes then.
 * After the shutdown they are ignored. */

/* W-1. */
bool workqueue_add(struct workqueue *queue, struct str key, struct err *err);
/* W-7: 0 or less is now; the earlier of two times counts. */
bool workqueue_add_after(struct workqueue *queue, struct str key, int64_t delay_ms, struct err *err);
/* W-10: after what the limiter says. */
bool workqueue_add_rate_limited(struct workqueue *queue, struct str key, struct err *err);
/* The same for a key that is worked on, as it must be, unless it was tried `max` times again already: it is
 * given up then, forgotten and counted, and false is given. */
bool workqueue_retry(struct workqueue *queue, struct str key, uint64_t max);
/* Why it failed last, for who looks: kept until it is forgotten; cut when it is long. Harmless for a key
 * without failures. */
void workqueue_set_why(struct workqueue *queue, struct str key, struct str why);
void workqueue_forget(struct workqueue *queue, struct str key);
/* Its failures so far. */
uint64_t workqueue_num_requeues(const struct workqueue *queue, struct str key);

/* --- keys out */

/* The next key, borrowed until it is done. False: nothing to get now. */
bool workqueue_get(struct workqueue *queue, struct str *key);
/* Sets `key` to the one that workqueue_get would return. */
bool workqueue_peek(const struct workqueue *queue, struct str *key);
/* The end of the work on a key. Harmless for others (W-3). */
void workqueue_done(struct workqueue *queue, struct str key);
/* Puts a processing key back to the front, as if nobody had got it. Harmless for other keys. */
void workqueue_put_back(struct workqueue *queue, struct str key);
/* Notes the worker of a key for others: borrowed until its work ends. NULL: nobody works on it, or the worker
 * is unknown. */
void workqueue_set_holder(struct workqueue *queue, struct str key, void *holder);
void *workqueue_holder(const struct workqueue *queue, struct str key);

struct workqueue_waiter {
    void (*wake)(struct workqueue_waiter *waiter); /* once */
    struct str key; /* got for the waiter, borrowed until it is done; NULL: shut down and empty (W-2) */
    bool waiting;
    TAILQ_ENTRY(workqueue_waiter) link;
};

/* Waits for a key, when workqueue_get gave none and the queue is not closed; the waiter must stay in place.
 */
void workqueue_wait(struct workqueue *queue, struct workqueue_waiter *waiter);
/* Ends the wait; harmless if there is none. */
void workqueue_stop_waiting(struct workqueue *queue, struct workqueue_waiter *waiter);
/* Shut down, and nothing to get. */
bool workqueue_is_closed(const struct workqueue *queue);
/* In order: what waits for its time, or for its own work to end, is not (W-4). */
size_t workqueue_len(const struct workqueue *queue);

/* --- another owner */

struct workqueue_owner {
    struct workqueue_quota *quota; /* its keys count there */
    void (*ready)(void *ctx);
    void *ctx;
};

/* Transfers the queue to another owner and limiter; failure counts are kept. Waiters belong to the old owner
 * and are woken without a key. */
void workqueue_handover(struct workqueue *queue, const struct workqueue_owner *owner,
                        const struct rate_limiter *limiter);
/* Nobody owns it any more: it is shut down, and counts nowhere. It may still be asked and freed. */
void workqueue_abandon(struct workqueue *queue);
/* Wakes those who wait for a key: there will be none. */
void workqueue_end_waits(struct workqueue *queue);
/* Adds the keys of `from`, queued or delayed, to `queue`; nothing of `from` is being processed. */
void workqueue_absorb(struct workqueue *queue, struct workqueue *from);

/* --- the end */

/* No more keys; what waits for its time is lost; what is queued may still be got. Releases who waits for a
 * drain. */
void workqueue_shut_down(struct workqueue *queue);
/* The same, and tells when nothing is worked on any more and what came again meanwhile was worked on too;
 * with workers, when nothing is queued either. False: so it is already, nobody will be woken. */
bool workqueue_drain(struct workqueue *queue, struct workqueue_waiter *waiter);
/* Promises that a worker gets queued keys as soon as it can. */
void workqueue_has_workers(struct workqueue *queue);

struct workqueue_status {
    size_t depth;      /* to be worked on: queued, or to come when their own work is done */
    size_t delayed;    /* their time will come */
    size_t processing; /* worked on */
    size_t failing;    /* have failures that were not forgotten */
    uint64_t adds, retries, dropped;
    int64_t longest_ms;     /* since when the oldest work under way is under way */
    struct str longest_key; /* borrowed until its work ends; NULL: none is */
    bool shut_down;
};
void workqueue_get_status(const struct workqueue *queue, struct workqueue_status *status);

/* A key that has failed and was not forgotten. Texts are borrowed until the next change of the queue. */
struct workqueue_failing {
    struct str key;
    uint64_t failures;
    const char *why; /* "" when nobody said */
    bool processing;
    bool delayed; /* its time will come, in: */
    int64_t next_ms;
};
/* The `max` that the queue has known for longest, at most; returns their number. */
size_t workqueue_get_failing(const struct workqueue *queue, struct workqueue_failing *out, size_t max);
