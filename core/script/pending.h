/* Events that a handler has not been told yet, because a call of it waits. In order; from `mark` events on,
 * an event whose key is in the list already joins the last one of that key, so that memory is bounded by the
 * number of keys (I-8, B-2). Owner: the handler that embeds it, on the engine thread. Objects in it are
 * references. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "informer/shared_informer.h"

enum handler_event { ON_ADD, ON_UPDATE, ON_DELETE, ON_COUNT };

struct event {
    enum handler_event type;
    struct root *old_object,
        *object; /* `old_object` of an update, else NULL; `object` is the new one or the last */
    struct event_info info;
};

/* What becomes of a delete and an add after it. */
enum pending_pairs {
    PENDING_JOIN_ALL,        /* an update */
    PENDING_SPLIT_RECREATED, /* the same, but with another uid they stay two */
    PENDING_KEEP_PAIRS,      /* they stay two: the handler has no function for updates */
};

struct pending_entry;

struct pending {
    TAILQ_HEAD(, pending_entry) entries;
    struct pending_entry *last; /* by key: the last one of it */
    size_t count, mark;
    enum pending_pairs pairs;
    uint64_t put,
        taken; /* how many entries there ever were, how many have left; those that joined are none */
};

void pending_init(struct pending *pending, size_t mark, enum pending_pairs pairs);
void pending_clear(struct pending *pending);
/* Takes references of its own. Gives true when the event joined another one. */
bool pending_put(struct pending *pending, const struct event *event);
/* The next event, with its references for the caller; false when there is none. */
bool pending_take(struct pending *pending, struct event *event);
