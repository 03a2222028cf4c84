/* Two events that become one; see handler_event.h. */
#include "script/handler_event.h"

struct event event_copy(const struct event *event)
{
    struct event copy = *event;
    if (copy.old_object) root_ref(copy.old_object);
    root_ref(copy.object);
    return copy;
}

void event_let_go(struct event *event)
{
    root_unref(event->old_object);
    root_unref(event->object);
    *event = (struct event){0};
}

static void set_objects(struct event *event, struct root *old_object, struct root *object)
{
    struct root *before[] = {event->old_object, event->object};
    event->old_object = old_object ? root_ref(old_object) : NULL;
    event->object = root_ref(object);
    root_unref(before[0]);
    root_unref(before[1]);
}

/* Added + Updated = Added(new); Updated + Updated: the first old, the last new; Deleted + Added = Updated.
 * The flags are the later event's, but an object that is still new to the handler stays one of the initial
 * list. */
static void join_change(struct event *event, const struct event *next)
{
    struct event_info info = next->info;
    info.coalesced = true;
    if (event->type == ON_ADD) {
        info.initial = event->info.initial;
        info.resync = false;
        set_objects(event, NULL, next->object);
    } else {
        info.initial = false;
        info.resync = event->type == ON_UPDATE && event->info.resync && next->info.resync;
        set_objects(event, event->type == ON_UPDATE ? event->old_object : event->object, next->object);
        event->type = ON_UPDATE;
    }
    event->info = info;
}

/* Updated + Deleted = Deleted; Added + Deleted: nothing; Deleted + Deleted = the one that is no tombstone. */
static bool join_delete(struct event *event, const struct event *next)
{
    bool keep = event->type == ON_DELETE && !event->info.final_state_unknown;
    bool left = event->type != ON_ADD;
    if (!keep) {
        event->info = next->info;
        set_objects(event, NULL, next->object);
        event->type = ON_DELETE;
    }
    event->info.coalesced = true;
    return left;
}

bool event_join(struct event *event, bool nothing, const struct event *next)
{
    if (nothing) { /* the handler knows as much of the key as if nothing had been */
        set_objects(event, next->old_object, next->object);
        event->type = next->type;
        event->info = next->info;
        event->info.coalesced = true;
        return true;
    }
    if (next->type == ON_DELETE) return join_delete(event, next);
    join_change(event, next);
    return true;
}
