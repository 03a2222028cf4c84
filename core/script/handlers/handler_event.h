/* Events for a handler, and how two of one object are merged. Owner: the holder of the event; its objects
 * are references or borrowed, as said there. On the engine thread; calls no Lua. */
#pragma once
#include <stdbool.h>

#include "informer/shared/shared_informer.h"

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
    /* The object's end came behind it, which the handler has no function for: no other end will come. */
    bool gone;
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
