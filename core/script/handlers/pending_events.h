/* Events that a handler has not received yet, because calls of it wait. In the order in which they came;
 * with `by_key` each key in its own, and a key that is held is passed over, at no cost. From `mark` events
 * on, an event whose key is in the list already joins the last one of that key: there are never more than
 * `mark` events and two for each key, three behind a recalled add (I-8, B-2). Owner: the handler that embeds
 * it, on the engine thread. Objects in it are references. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "informer/shared/shared_informer.h"

/* --- Events of a handler, and how events of one object are merged. Owner: the holder of the event; its
 * objects are references or borrowed, as said there. On the engine thread; no Lua is called. */

enum handler_event_type { ON_ADD, ON_UPDATE, ON_DELETE, ON_COUNT };

struct handler_event {
    enum handler_event_type type;
    /* The state that the handler received last, by the event before this one: the old object of an update; of
     * a delete that of the cache, which `object` may not be. NULL: it was not notified of the key, so that
     * this is an add, or the delete of a key that was never seen. */
    struct root *old_object;
    struct root *object; /* the new state or the last */
    struct event_info info;
    /* An add of an object that is gone, for the delete behind it: an earlier generation was notified of it.
     * Joined with that delete it is a delete whose add nobody received. */
    bool recalled;
};

/* Takes references of its own to the objects. */
struct handler_event event_copy(const struct handler_event *event);
void event_let_go(struct handler_event *event);
/* `next` is the next one of the same key: the event, whose objects are references, becomes both. Its
 * `old_object` stays, as the handler was notified of nothing in between; without one what comes out is an
 * add, whatever it was joined of. False when nothing is left to tell, an add and a delete: the event is kept
 * for what may come after it, which begins with `nothing` true. */
bool event_join(struct handler_event *event, bool nothing, const struct handler_event *next);
/* Borrows the state that the handler received last, of a delete whose last state is another; NULL otherwise.
 * States that differ in their version alone are the same: servers give each delete a version of its own. */
struct root *event_previous(const struct handler_event *event);

/* --- pending */

/* Treatment of a delete and an add after it, and of a recalled add and its delete, which stay two except with
 * the last. */
enum pending_pairs {
    PENDING_JOIN_ALL,        /* an update */
    PENDING_SPLIT_RECREATED, /* the same, but with another uid they stay two */
    PENDING_KEEP_PAIRS,      /* they stay two: the handler has no function for updates */
    PENDING_PICK_DELETES,    /* they stay two: deletes are picked out, with what was delivered before each */
};

struct pending_entry;
struct pending_key;

struct pending_events {
    TAILQ_HEAD(, pending_entry) entries; /* all of them */
    TAILQ_HEAD(, pending_key) ready; /* keys with events, not held; the one whose turn it is comes first */
    struct pending_key *keys;        /* those with events or held, by their text */
    size_t count, mark;
    size_t initial; /* events of the first list among them */
    enum pending_pairs pairs;
    bool by_key;
};

void pending_init(struct pending_events *pending, size_t mark, enum pending_pairs pairs, bool by_key);
/* Keys that are held stay so. */
void pending_clear(struct pending_events *pending);
/* Takes references of its own. Returns true when the event joined another one. */
bool pending_put(struct pending_events *pending, const struct handler_event *event);
/* The same for an event that stays one of its own, however many there are. */
void pending_append(struct pending_events *pending, const struct handler_event *event);
/* The next event, with its references for the caller; false when there is none. By key: of a key that is not
 * held, and keys take turns. */
bool pending_take(struct pending_events *pending, struct handler_event *event);
/* By key: no event of the object is taken until as many pending_unlock. */
struct pending_key *pending_lock(struct pending_events *pending, const struct root *object);
void pending_unlock(struct pending_events *pending, struct pending_key *key);
bool pending_is_locked(const struct pending_events *pending, const struct root *object);
/* Returns whether pending_take has an event to give. */
bool pending_has_next(const struct pending_events *pending);
