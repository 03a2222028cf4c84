/* Two events that become one, and what a delete says of the state before it; see handler_event.h. */
#include "script/handlers/handler_event.h"

#include "object/value/value.h"

struct event event_copy(const struct event *event)
{
    struct event copy = *event;
    if (copy.old_object) root_ref(copy.old_object);
    root_ref(copy.object);
    copy.info.stored = NULL; /* borrowed for the informer's call only; `old_object` is the same */
    return copy;
}

void event_let_go(struct event *event)
{
    root_unref(event->old_object);
    root_unref(event->object);
    *event = (struct event){0};
}

static void set_object(struct event *event, struct root *object)
{
    struct root *before = event->object;
    event->object = root_ref(object);
    root_unref(before);
}

/* --- two become one (I-8) */

/* Added + Updated = Added(new); Updated + Updated: the first old, the last new; Deleted + Added = Updated,
 * from what was told before the delete, whose last state the handler never saw.
 * The flags are the later event's, but an object that is still new to the handler stays one of the initial
 * list, or one that began to pass its filter. */
static void join_change(struct event *event, const struct event *next)
{
    struct event_info info = next->info;
    enum handler_event before = event->type;
    info.coalesced = true;
    info.stored = NULL;
    set_object(event, next->object);
    if (before == ON_ADD) {
        info.initial = event->info.initial;
        info.filtered = event->info.filtered;
    }
    if (!event->old_object) {
        event->type = ON_ADD;
        info.resync = false;
    } else {
        event->type = ON_UPDATE;
        info.initial = info.filtered = false;
        info.resync = before == ON_UPDATE && event->info.resync && next->info.resync;
    }
    event->info = info;
}

/* Updated + Deleted = Deleted; Added + Deleted: nothing, unless it was recalled; Deleted + Deleted = the one
 * that is no tombstone. What is nothing has become a delete, and stays nothing with another one. */
static bool join_delete(struct event *event, bool nothing, const struct event *next)
{
    bool left = (event->type != ON_ADD || event->recalled) && !nothing;
    if (event->type == ON_ADD && event->recalled) event->old_object = root_ref(event->object);
    if (event->type != ON_DELETE || event->info.final_state_unknown) {
        event->info = next->info;
        event->info.stored = NULL;
        set_object(event, next->object);
        event->type = ON_DELETE;
    }
    event->info.coalesced = true;
    return left;
}

bool event_join(struct event *event, bool nothing, const struct event *next)
{
    if (next->type == ON_DELETE) return join_delete(event, nothing, next);
    join_change(event, next);
    return true;
}

/* --- what a delete says (B-5) */

/* As value_equal, but for the field at the path, whose last name is followed by NULL. */
static bool equal_but(struct value a, struct value b, const char *const *path)
{
    size_t count = value_count(a);
    if (value_type(a) != VALUE_MAP || value_type(b) != VALUE_MAP || count != value_count(b)) return false;
    for (size_t i = 0; i < count; i++) {
        struct text text;
        struct str key;
        struct value in_a = value_entry(a, i, &key, &text), in_b = value_field(b, key);
        if (value_type(in_b) == VALUE_ABSENT) return false;
        bool on_path = str_is(key, path[0]);
        if (on_path && !path[1]) continue;
        if (on_path ? !equal_but(in_a, in_b, path + 1) : !value_equal(in_a, in_b)) return false;
    }
    return true;
}

struct root *event_previous(const struct event *event)
{
    static const char *const version[] = {"metadata", "resourceVersion", NULL};
    struct root *told = event->old_object, *last = event->object;
    if (event->type != ON_DELETE || !told || told == last) return NULL;
    return equal_but(root_value(told), root_value(last), version) ? NULL : told;
}
