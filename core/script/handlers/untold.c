/* Objects that a handler does not know; see untold.h. */
#include "script/handlers/untold.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

#define HASH_KEYCMP(a, b, n) (!root_key_equal(a, b))
#include <uthash.h>

struct untold_object {
    struct root *object; /* a reference */
    UT_hash_handle hh;
};

static struct untold_object *find(const struct untold *untold, const struct root *object)
{
    struct untold_object *found = NULL;
    if (untold->objects)
        HASH_FIND_BYHASHVALUE(hh, untold->objects, object, sizeof *found, root_key_hash(object), found);
    return found;
}

static void add(struct untold *untold, struct root *object)
{
    if (find(untold, object)) return;
    struct untold_object *added = NEW(struct untold_object);
    added->object = root_ref(object);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, untold->objects, object, sizeof *added, root_key_hash(object), added);
}

static void forget(struct untold *untold, struct untold_object *object)
{
    HASH_DELETE(hh, untold->objects, object);
    root_unref(object->object);
    free(object);
}

/* Returns whether it was an untold one. */
static bool end(struct untold *untold, const struct root *object)
{
    struct untold_object *found = find(untold, object);
    if (found) forget(untold, found);
    return found != NULL;
}

/* Better a loss too many than none of an object that the script knows. Of a recalled add an earlier
 * generation knew it. */
static bool may_be_known(const struct untold *untold, const struct handler_event *event)
{
    return event->recalled || (event->info.initial && untold->starts_over);
}

bool untold_leaves_loss(struct untold *untold, struct handler_event *event)
{
    if (event->type == ON_ADD && !event->gone && !may_be_known(untold, event)) add(untold, event->object);
    return event->type == ON_DELETE && !end(untold, event->object) && event_become_lost(event);
}

bool untold_passes(struct untold *untold, const struct handler_event *event)
{
    return !end(untold, event->object) || !event_is_end(event->type);
}

void untold_move(struct untold *from, struct untold *to)
{
    must(!to->objects);
    *to = *from;
    from->objects = NULL;
}

void untold_start_over(struct untold *untold)
{
    while (untold->objects) forget(untold, untold->objects);
    untold->starts_over = true;
}
