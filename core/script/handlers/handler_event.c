/* Events for a handler: merging two of one object, and the state before a delete; see handler_event.h. */
#include "script/handlers/handler_event.h"

#include "object/value/value.h"

struct handler_event event_copy(const struct handler_event *event)
{
    struct handler_event copy = *event;
    if (copy.old_object) root_ref(copy.old_object);
    root_ref(copy.object);
    copy.info.stored = NULL; /* borrowed for the callback only; equals `old_object` */
    return copy;
}

void event_let_go(struct handler_event *event)
{
    root_unref(event->old_object);
    root_unref(event->object);
    *event = (struct handler_event){0};
}

static void set_object(struct handler_event *event, struct root *object)
{
    struct root *before = event->object;
    event->object = root_ref(object);
    root_unref(before);
}

/* --- two become one (I-8) */

/* Added + Updated = Added(new); Updated + Updated: the first old, the last new; Deleted + Added = Updated,
 * from the state delivered before the delete, as the handler never saw the last one. Flags are those of the
 * later event, but an object that is still new to the handler stays initial or newly filtered. */
static void join_change(struct handler_event *event, const struct handler_event *next)
{
    struct event_info info = next->info;
    enum handler_event_type before = event->type;
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

/* Updated + Deleted = Deleted; Added + Deleted: nothing, unless recalled; Deleted + Deleted = the one that is
 * not a tombstone, as its last state is exact. Nothing has become a delete, and stays nothing when merged
 * with another. */
static bool join_delete(struct handler_event *event, bool nothing, const struct handler_event *next)
{
    bool left = (event->type != ON_ADD || event->recalled) && !nothing;
    if (event->type == ON_ADD && event->recalled) event->old_object = root_ref(event->object);
    if (!event_is_end(event->type) || event->info.final_state_unknown) {
        event->info = next->info;
        event->info.stored = NULL;
        set_object(event, next->object);
        event->type = next->type;
    }
    event->info.coalesced = true;
    return left;
}

bool event_join(struct handler_event *event, bool nothing, const struct handler_event *next)
{
    event->settled &= next->settled;
    event->gone = next->gone;
    if (event_is_end(next->type)) return join_delete(event, nothing, next);
    join_change(event, next);
    return true;
}

bool event_become_lost(struct handler_event *event)
{
    if (event->type != ON_DELETE || !event->old_object) return false;
    event->type = ON_LOST;
    event->info.shard = SHARD_LOST;
    return true;
}

/* --- state before a delete (B-5) */

/* Like value_equal, but ignores the field at the path, which ends with NULL. */
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

struct root *event_previous(const struct handler_event *event)
{
    static const char *const version[] = {"metadata", "resourceVersion", NULL};
    struct root *known = event->old_object, *last = event->object;
    if (!event_is_end(event->type) || !known || known == last) return NULL;
    return equal_but(root_value(known), root_value(last), version) ? NULL : known;
}
