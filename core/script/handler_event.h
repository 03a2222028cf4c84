/* What a handler is told of, and how events of one object become one. Owner: whoever holds the event; its
 * objects are references or borrowed, as said there. On the engine thread; no Lua is called. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "informer/shared_informer.h"

enum handler_event { ON_ADD, ON_UPDATE, ON_DELETE, ON_COUNT };

struct event {
    enum handler_event type;
    struct root *old_object,
        *object; /* `old_object` of an update, else NULL; `object` is the new one or the last */
    struct event_info info;
};

/* Takes references of its own to the objects. */
struct event event_copy(const struct event *event);
void event_let_go(struct event *event);
/* `next` is the next one of the same object: the event, whose objects are references, becomes both. False
 * when nothing is left to tell, an add and a delete: the event is kept for what may come after it, which
 * begins with `nothing` true. */
bool event_join(struct event *event, bool nothing, const struct event *next);
