/* Internals of the work queue, shared by its files: workqueue.c has the three structures of W-1,
 * workqueue_delay.c the delayed items. Owner: as workqueue.h says. For these files only. */
#pragma once
#include <uthash.h>

#include "informer/workqueue/workqueue.h"
#include "informer/workqueue/workqueue_metrics.h"

/* A key is one item, whatever happens to it: members instead of sets. Freed when nothing is left to know. */
struct workqueue_item {
    UT_hash_handle hh;
    struct workqueue *queue;
    TAILQ_ENTRY(workqueue_item) link; /* in `order` while queued, in `busy` while processing */
    struct timer delay;
    bool dirty, processing, owed; /* owed: came again while the queue drains */
    void *holder;                 /* while processing */
    uint64_t failures;
    char *why; /* of the last failure; NULL: none was given */
    int64_t added_ns, begun_ns;
    size_t key_len;
    char key[];
};

TAILQ_HEAD(workqueue_list, workqueue_item);
TAILQ_HEAD(workqueue_waiters, workqueue_waiter);

struct workqueue {
    struct workqueue_options options;
    struct workqueue_quota own_quota;  /* once it is abandoned */
    struct workqueue_item *items;      /* by key */
    struct workqueue_list order, busy; /* busy: in the order in which the work began */
    size_t queued, dirty, processing, owed, delayed, failing;
    uint64_t adds, retries, dropped;
    struct workqueue_waiters getters, drainers;
    bool shut_down, draining, has_workers;
    struct workqueue_metrics metrics;
    struct timer refresh; /* runs while something is worked on */
};

static inline struct str workqueue_key(const struct workqueue_item *item)
{
    return (struct str){item->key, item->key_len};
}

struct workqueue_item *workqueue_find(const struct workqueue *queue, struct str key);
/* NULL with an error when there is none and none may be made. */
struct workqueue_item *workqueue_item(struct workqueue *queue, struct str key, struct err *err);
void workqueue_add_item(struct workqueue *queue, struct workqueue_item *item);
/* Frees the item when nothing is left to know of it. */
void workqueue_settle(struct workqueue *queue, struct workqueue_item *item);

/* Ends all waits in the list: no key will come. */
void workqueue_wake_all(struct workqueue_waiters *list);

/* --- workqueue_delay.c */

void workqueue_drop_why(struct workqueue *queue, struct workqueue_item *item);
void workqueue_on_delay(struct timer *timer);
/* Cancels all delays: delayed items are lost. */
void workqueue_cancel_delays(struct workqueue *queue);
