/* Internals of the work queue, shared by its files: workqueue.c has the three structures of W-1,
 * workqueue_delay.c the delayed items. Owner: as workqueue.h says. For these files only. */
#pragma once
#include <uthash.h>

#include "informer/workqueue/workqueue.h"
#include "informer/workqueue/workqueue_metrics.h"

/* Key with its state: one item instead of client-go's three sets. Freed when it has no state left. */
struct workqueue_item {
    UT_hash_handle hh;
    struct workqueue *queue;
    TAILQ_ENTRY(workqueue_item) link; /* in `order` while queued, in `busy` while processing */
    struct timer delay;
    bool dirty, processing, owed; /* owed: added again while the queue drains */
    void *holder;                 /* while processing */
    unsigned slot;                /* as of workqueue_note_slot */
    bool has_slot;                /* it was noted */
    uint64_t failures;
    char *why; /* reason of the last failure; NULL for none */
    int64_t added_ns, begun_ns;
    size_t key_len;
    char key[];
};

TAILQ_HEAD(workqueue_list, workqueue_item);
TAILQ_HEAD(workqueue_waiters, workqueue_waiter);

struct workqueue {
    struct workqueue_options options;
    struct workqueue_quota own_quota;  /* used after workqueue_abandon */
    struct workqueue_item *items;      /* by key */
    struct workqueue_list order, busy; /* busy: in the order in which work began */
    size_t queued, dirty, processing, owed, delayed, failing;
    uint64_t adds, retries, dropped;
    struct workqueue_waiters getters, drainers;
    bool shut_down, draining, has_workers;
    bool parked; /* has no owner, until workqueue_handover: takes no new keys, and has no series */
    struct workqueue_metrics metrics;
    struct timer refresh; /* runs while keys are processed */
};

static inline struct str workqueue_key(const struct workqueue_item *item)
{
    return (struct str){item->key, item->key_len};
}

struct workqueue_item *workqueue_find(const struct workqueue *queue, struct str key);
/* Returns whether the key may be added; what has ended ignores it. */
static inline bool workqueue_takes(const struct workqueue *queue, struct str key)
{
    return !queue->shut_down && (!queue->parked || workqueue_find(queue, key));
}
/* Returns the item of a key, or a new one. NULL with an error if the quota is exceeded or the key is too
 * long. */
struct workqueue_item *workqueue_item(struct workqueue *queue, struct str key, struct err *err);
void workqueue_add_item(struct workqueue *queue, struct workqueue_item *item);
/* Frees the item if it has no state left. */
void workqueue_settle(struct workqueue *queue, struct workqueue_item *item);

/* Ends all waits in the list, without a key. */
void workqueue_wake_all(struct workqueue_waiters *list);

/* --- workqueue_delay.c */

void workqueue_drop_why(struct workqueue *queue, struct workqueue_item *item);
void workqueue_on_delay(struct timer *timer);
/* Cancels all delays: delayed items are lost. */
void workqueue_cancel_delays(struct workqueue *queue);
