/* Events that wait for a list; see held_events.h. */
#include "informer/reflect/held_events.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/mem.h"
#include "kube/kinds/resource.h"

struct held_event {
    UT_hash_handle hh;
    enum lw_event_type type;
    struct root *object;
    char uid[];
};

void held_events_add(struct held_events *held, enum lw_event_type type, struct root *object)
{
    struct held_event *event;
    struct text text;
    struct str uid = root_uid(object, &text);
    HASH_FIND(hh, held->all, uid.p ? uid.p : "", uid.n, event);
    /* Without a uid it may be any object. */
    if (event && uid.n > 0) {
        root_unref(event->object);
    } else {
        event = xcalloc(1, sizeof *event + uid.n);
        if (uid.n > 0) memcpy(event->uid, uid.p, uid.n);
        HASH_ADD_KEYPTR(hh, held->all, event->uid, uid.n, event);
    }
    event->type = type;
    event->object = object;
}

size_t held_events_count(const struct held_events *held)
{
    return HASH_COUNT(held->all);
}

void held_events_merge(const struct held_events *held, struct str version,
                       bool (*wanted)(const void *ctx, const struct root *object), const void *ctx,
                       struct collection *out)
{
    struct text text, text_ns;
    for (const struct held_event *event = held->all; event; event = event->hh.next) {
        struct root *object = event->object;
        if (!version_may_be_newer(root_resource_version(object, &text), version)) continue;
        if (!wanted(ctx, object)) continue;
        if (event->type == LW_DELETED)
            collection_remove(out, root_namespace(object, &text_ns), root_name(object, &text));
        else
            collection_put(out, root_ref(object));
    }
}

void held_events_clear(struct held_events *held)
{
    struct held_event *event, *next;
    HASH_ITER (hh, held->all, event, next) {
        HASH_DEL(held->all, event);
        root_unref(event->object);
        free(event);
    }
}
