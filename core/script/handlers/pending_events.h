/* Events of a handler that are queued behind its calls in flight, in order of arrival; with `by_key` in order
 * for each key, and locked keys are passed over at no cost. From `mark` events on, an event is merged into
 * the last one of its key: there are never more than `mark` events plus two for each key, three behind a
 * recalled add (I-8, B-2). Owner: the handler that embeds it, on the engine thread. Objects in it are
 * references. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "informer/shared/shared_informer.h"

/* --- Events for a handler, and how two of one object are merged. Owner: the holder of the event; its objects
 * are references or borrowed, as said there. On the engine thread; calls no Lua. */

/* ON_LOST: another replica has its slot from now on, and the object may be gone; for all else it is like a
 * delete. */
enum handler_event_type { ON_ADD, ON_UPDATE, ON_DELETE, ON_LOST, ON_COUNT };

static inline bool event_is_end(enum handler_event_type type)
{
    return type == ON_DELETE || type == ON_LOST;
}

struct handler_event {
    enum handler_event_type type;
    /* State that was delivered last, by the event before this one: the old object of an update; for a delete
     * the cached state, which `object` may not be. NULL: nothing of the key was delivered, so that this is an
     * add, or the delete of a key that was never seen. */
    struct root *old_object;
    struct root *object; /* new state, or the last one of a delete */
    struct event_info info;
    /* Add of an object that is gone, delivered for the delete behind it because an earlier generation had
     * seen the object. Merged with that delete it is a delete without a delivered add. */
    bool recalled;
    /* At a loss of slots the handler was found to be told of this: whatever is dropped behind it later says
     * nothing about this one. */
    bool settled;
};

/* Copies the event with references of its own. */
struct handler_event event_copy(const struct handler_event *event);
void event_let_go(struct handler_event *event);
/* Merges `next`, the following event of the same key, into the event, whose objects are references. Its
 * `old_object` stays, as nothing was delivered in between; without one the result is an
 * add, whatever it was
 * merged from. Returns false if nothing is left to deliver (an add and a delete): the event is kept for a
 * later merge, which passes true as `nothing`. */
bool event_join(struct handler_event *event, bool nothing, const struct handler_event *next);
/* Makes the loss of its object of a delete that no handler is told of any more, as another replica has the
 * slot: the object is to be forgotten all the same. False for other events, and for the delete of a key that
 * was never seen. */
bool event_become_lost(struct handler_event *event);
/* Returns, borrowed, the state that was delivered before a delete if the last state differs; else NULL.
 * States that differ only in their version are equal: servers assign each delete a version of its own. */
struct root *event_previous(const struct handler_event *event);

/* --- pending */

/* Treatment of a delete followed by an add, and of a recalled add followed by its delete, which stay two
 * except with PENDING_PICK_DELETES. */
enum pending_pairs {
    PENDING_JOIN_ALL,        /* an update */
    PENDING_SPLIT_RECREATED, /* the same, but with another uid they stay two */
    PENDING_KEEP_PAIRS,      /* they stay two: the handler has no function for updates */
    PENDING_PICK_DELETES,    /* two: deletes are picked out, with the state delivered before each */
};

struct pending_entry;
struct pending_key;

struct pending_events {
    TAILQ_HEAD(, pending_entry) entries; /* all of them */
    TAILQ_HEAD(, pending_key) ready;     /* unlocked keys with events, in the order of their turns */
    struct pending_key *keys;            /* keys that have events or are locked, by the object */
    size_t count, mark;
    size_t most;    /* of them since there were none */
    size_t initial; /* initial objects among them, but for disowned ones */
    size_t lost;    /* lost ones among them, and disowned ones that may become that */
    enum pending_pairs pairs;
    bool by_key;
};

void pending_init(struct pending_events *pending, size_t mark, enum pending_pairs pairs, bool by_key);
/* Drops all events; keys stay locked. */
void pending_clear(struct pending_events *pending);
/* Adds an event, with references of its own. Returns true if it was merged into another one. */
bool pending_put(struct pending_events *pending, const struct handler_event *event);
/* Like pending_put, but never merges. */
void pending_append(struct pending_events *pending, const struct handler_event *event);
/* Removes the next event, whose references the caller takes; false when there is none. By key, takes it from
 * an unlocked key; keys take turns. */
bool pending_take(struct pending_events *pending, struct handler_event *event);
/* Locks the key of the object: none of its events is taken until an equal number of pending_unlock calls. By
 * key only. */
struct pending_key *pending_lock(struct pending_events *pending, struct root *object);
void pending_unlock(struct pending_events *pending, struct pending_key *key);
bool pending_is_locked(const struct pending_events *pending, const struct root *object);
/* Drops the events for which `drops` returns true. It may make others lost or disowned. */
void pending_drop(struct pending_events *pending, bool (*drops)(void *ctx, struct handler_event *event),
                  void *ctx);
/* Returns whether there is a lost object for which `is` returns true, or a disowned event of one but an add,
 * as a filter may make a delete of that. */
bool pending_has_lost(const struct pending_events *pending, bool (*is)(void *ctx, const struct root *object),
                      void *ctx);
/* Returns whether pending_take would return an event. */
bool pending_has_next(const struct pending_events *pending);
