/* What a handler is told of, and how events of one object become one. Owner: whoever holds the event; its
 * objects are references or borrowed, as said there. On the engine thread; no Lua is called. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "informer/shared/shared_informer.h"

enum handler_event { ON_ADD, ON_UPDATE, ON_DELETE, ON_COUNT };

struct event {
    enum handler_event type;
    /* The state that the handler was told last, by the event before this one: the old object of an update; of
     * a delete that of the cache, which `object` may not be. NULL: it was not told of the key, so that this
     * is an add, or the delete of a key that was never seen. */
    struct root *old_object;
    struct root *object; /* the new state or the last */
    struct event_info info;
    /* An add of an object that is gone, for the delete behind it: an earlier generation was told of it.
     * Joined with that delete it is a delete that nobody was told the add of. */
    bool recalled;
};

/* Takes references of its own to the objects. */
struct event event_copy(const struct event *event);
void event_let_go(struct event *event);
/* `next` is the next one of the same key: the event, whose objects are references, becomes both. Its
 * `old_object` stays, as the handler was told of nothing in between; without one what comes out is an add,
 * whatever it was joined of. False when nothing is left to tell, an add and a delete: the event is kept for
 * what may come after it, which begins with `nothing` true. */
bool event_join(struct event *event, bool nothing, const struct event *next);
/* Borrows the state that the handler was told last, of a delete whose last state is another; NULL otherwise.
 * States that differ in their version alone are the same: servers give each delete a version of its own. */
struct root *event_previous(const struct event *event);
