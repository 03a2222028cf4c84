/* Work queue like client-go's (contract W-1..W-12, V25): keys in order, each once, none with two workers at a
 * time, with delays and retries. A key that is added while it is processed is queued again when that ends.
 * Owner: its creator, on one thread with its clock. Only `ready` and `wake` are callbacks, and they must not
 * call the queue; everything else may be called from anywhere on that thread. */
#pragma once
#include <sys/queue.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "informer/workqueue/rate_limiter.h"

struct workqueue;

/* Longest key in bytes: two names of Kubernetes and much more. */
enum { WORKQUEUE_KEY_MAX = 4096 };

/* Bound that queues may share. A key counts while it is queued, delayed, processed, or has failures. */
struct workqueue_quota {
    size_t keys, max;
    size_t bytes; /* estimate of their memory */
};

struct workqueue_options {
    const char *name, *script; /* labels of its series, copied; without a name it has none (W-11) */
    struct clock *clock;
    struct rate_limiter limiter; /* copied */
    struct workqueue_quota *quota;
    void (*ready)(void *ctx); /* a key was queued, and nothing waits for it */
    void *ctx;
    int64_t (*measure_ns)(void); /* for the series; NULL: clock_measure_ns */
};

struct workqueue *workqueue_new(const struct workqueue_options *options);
/* Frees the queue, which must have no waiters. */
void workqueue_free(struct workqueue *queue);

/* --- keys in. Adds return false with ERR_LIMIT, and change nothing, for a new key that is too long or one
 * too many. After the shutdown keys are ignored. */

/* Adds a key (W-1). */
bool workqueue_add(struct workqueue *queue, struct str key, struct err *err);
/* Adds a key after a delay; 0 or less: now. The earlier of two times counts (W-7). */
bool workqueue_add_after(struct workqueue *queue, struct str key, int64_t delay_ms, struct err *err);
/* Likewise for a processing key that cannot be worked on yet, whose processing ends: no retry, and no
 * failure. */
void workqueue_postpone(struct workqueue *queue, struct str key, int64_t delay_ms);
/* Adds a key after the delay of the limiter (W-10). */
bool workqueue_add_rate_limited(struct workqueue *queue, struct str key, struct err *err);
/* Likewise for a processing key, after `least_ms` at least. One that was retried `max` times already is
 * dropped instead: forgotten and counted, and false is returned. */
bool workqueue_retry(struct workqueue *queue, struct str key, uint64_t max, int64_t least_ms);
/* Sets the reason of a key's last failure, for the status; cut if long, and kept until the key is forgotten.
 * Ignored for a key without failures. */
void workqueue_set_why(struct workqueue *queue, struct str key, struct str why);
void workqueue_forget(struct workqueue *queue, struct str key);
/* Returns the number of failures of a key. */
uint64_t workqueue_num_requeues(const struct workqueue *queue, struct str key);

/* --- keys out */

/* Gets the next key, borrowed until it is done. Returns false if none is queued. */
bool workqueue_get(struct workqueue *queue, struct str *key);
/* Sets `key` to the one that workqueue_get would return. */
bool workqueue_peek(const struct workqueue *queue, struct str *key);
/* Ends the processing of a key. Ignored for other keys (W-3). */
void workqueue_done(struct workqueue *queue, struct str key);
/* Puts a processing key back to the front, as if it had not been taken. Ignored for other keys. */
void workqueue_put_back(struct workqueue *queue, struct str key);
/* Sets and returns the worker of a processing key; borrowed until its work ends. NULL: none, or unknown. */
void workqueue_set_holder(struct workqueue *queue, struct str key, void *holder);
void *workqueue_holder(const struct workqueue *queue, struct str key);

/* Notes the slot of the object on whose behalf a key was added just now (0: none). One that is added on
 * behalf of several slots has none. Ignored for other keys. */
void workqueue_note_slot(struct workqueue *queue, struct str key, unsigned slot);
unsigned workqueue_slot(const struct workqueue *queue, struct str key);

struct workqueue_waiter {
    void (*wake)(struct workqueue_waiter *waiter); /* once */
    struct str key; /* got for the waiter, borrowed until it is done; NULL: shut down and empty (W-2) */
    bool waiting;
    TAILQ_ENTRY(workqueue_waiter) link;
};

/* Waits for a key; call if workqueue_get returned none and the queue is not closed. The waiter must stay in
 * place. */
void workqueue_wait(struct workqueue *queue, struct workqueue_waiter *waiter);
/* Ends the wait, if any. */
void workqueue_stop_waiting(struct workqueue *queue, struct workqueue_waiter *waiter);
/* Returns whether the queue is shut down and empty. */
bool workqueue_is_closed(const struct workqueue *queue);
/* Returns the number of queued keys; delayed keys, and those that wait for their own processing to end, do
 * not count (W-4). */
size_t workqueue_len(const struct workqueue *queue);

/* --- another owner */

struct workqueue_owner {
    struct workqueue_quota *quota; /* receives the count of its keys */
    void (*ready)(void *ctx);
    void *ctx;
    const char *name, *script; /* labels of its series, as in workqueue_options */
};

/* Transfers the queue to another owner and limiter; failure counts are kept. Waiters belong to the old owner
 * and are woken without a key. */
void workqueue_handover(struct workqueue *queue, const struct workqueue_owner *owner,
                        const struct rate_limiter *limiter);
/* Shuts the queue down and removes its keys from the quota, as its owner ends. It may still be read and
 * freed. */
void workqueue_abandon(struct workqueue *queue);
/* Keeps the queue as its owner ends, until workqueue_handover: its keys stay, and leave the quota; new ones
 * are ignored. It has no series meanwhile. Wakes those that wait for a key. */
void workqueue_park(struct workqueue *queue);
/* Returns an estimate of the memory of a parked queue's keys. */
size_t workqueue_parked_bytes(const struct workqueue *queue);
/* Wakes all that wait for a key, without one. */
void workqueue_end_waits(struct workqueue *queue);
/* Adds the keys of `from`, queued or delayed, to `queue`; nothing of `from` is being processed. */
void workqueue_absorb(struct workqueue *queue, struct workqueue *from);

/* --- the end */

/* Shuts the queue down: ignores new keys, loses delayed ones; queued ones may still be got. Ends waits for a
 * drain. */
void workqueue_shut_down(struct workqueue *queue);
/* Likewise, and wakes the waiter when no key is processed, nor any key that was added again meanwhile; with
 * workers, when none is queued either. Returns false if that is so already. */
bool workqueue_drain(struct workqueue *queue, struct workqueue_waiter *waiter);
/* Promises that a worker gets queued keys as soon as it can. */
void workqueue_has_workers(struct workqueue *queue);

struct workqueue_status {
    size_t depth;      /* queued, or to be queued again when their processing ends */
    size_t delayed;    /* delayed */
    size_t processing; /* in progress */
    size_t failing;    /* have failures that were not forgotten */
    uint64_t adds, retries, dropped;
    int64_t longest_ms;     /* age of the oldest work in progress */
    struct str longest_key; /* borrowed until its work ends; NULL: none in progress */
    bool shut_down;
};
void workqueue_get_status(const struct workqueue *queue, struct workqueue_status *status);

/* Key that has failed and was not forgotten. Strings are borrowed until the next change of the queue. */
struct workqueue_failing {
    struct str key;
    uint64_t failures;
    const char *why; /* "" if no reason was set */
    bool processing;
    bool delayed; /* delayed, by `next_ms` */
    int64_t next_ms;
};
/* Copies at most `max` failing keys, the oldest first; returns their number. */
size_t workqueue_get_failing(const struct workqueue *queue, struct workqueue_failing *out, size_t max);
