/* Handlers of an informer and their calls; see handler_list.h. */
#include "informer/shared/handler_list.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"

static const void *owner_at(const struct handler_list *list, size_t i)
{
    const struct registration *r = list->items[i];
    return r->handler.owner ? r->handler.owner : r;
}

static void count_owners(struct handler_list *list)
{
    list->owners = 0;
    for (size_t i = 0; i < list->count; i++)
        list->owners += i == 0 || owner_at(list, i) != owner_at(list, i - 1);
}

static void sweep(struct handler_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->removed)
            registration_free(list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    count_owners(list);
}

/* A handler may remove itself or others from inside its call, so registrations are freed when no call is
 * left. */
static void leave(struct handler_list *list)
{
    if (--list->depth == 0) sweep(list);
}

void handler_list_clear(struct handler_list *list)
{
    must(list->depth == 0);
    for (size_t i = 0; i < list->count; i++) registration_free(list->items[i]);
    free(list->items);
    *list = (struct handler_list){0};
}

void handler_list_begin_delta(struct handler_list *list)
{
    must(list->depth == 0);
    list->turn++;
}

/* Notifies the handlers from `begin` to `end`. Calls may add handlers: `items` changes. */
static void notify(const struct handler_list *list, size_t begin, size_t end, const struct change *change)
{
    for (size_t i = begin; i < end; i++) {
        const struct registration *r = list->items[i];
        /* A handler added during this delta received the store with it, or has no initial delivery and wants
         * later changes only. */
        if (!r->removed && r->stage == HANDLER_ACTIVE && r->since < list->turn)
            registration_notify(r, change);
    }
}

void handler_list_notify(struct handler_list *list, const struct change *change)
{
    list->depth++;
    notify(list, 0, list->count, change);
    leave(list);
}

void handler_list_notify_all(struct handler_list *list, const struct change *changes, size_t count)
{
    size_t end;
    list->depth++;
    for (size_t begin = 0; begin < list->count; begin = end) {
        for (end = begin + 1; end < list->count && owner_at(list, end) == owner_at(list, begin);) end++;
        for (size_t i = 0; i < count; i++) notify(list, begin, end, &changes[i]);
    }
    leave(list);
}

void handler_list_add(struct handler_list *list, const struct event_handler *handler, int64_t now_ms,
                      const struct indexer *store, struct registration **registration)
{
    struct registration *r = registration_new(handler, now_ms);
    r->list = list;
    r->since = list->turn;
    /* An empty store has nothing to deliver, so the handler is active at once. */
    r->stage = indexer_count(store) && !handler->from_now_on ? HANDLER_WAITING : HANDLER_ACTIVE;
    /* Too late for the list of the earlier run, and so for changes since. */
    if (r->stage == HANDLER_WAITING) r->handler.knows_stored = false;
    list->waiting |= r->stage == HANDLER_WAITING;
    *array_add(list->items, list->count) = r;
    count_owners(list);
    *registration = r;
}

/* Starts one delivery for all waiting handlers. No call is in flight, so none of them is removed. */
static void begin_showing(struct handler_list *list)
{
    list->delivering_initial = true;
    list->waiting = false;
    for (size_t i = 0; i < list->count; i++) {
        struct registration *r = list->items[i];
        if (r->stage != HANDLER_WAITING) continue;
        r->stage = HANDLER_INITIAL;
        r->since = list->turn;
    }
}

static struct registration *first_shown(const struct handler_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->stage == HANDLER_INITIAL) return list->items[i];
    return NULL;
}

static bool was_shown_all(const struct registration *r, const struct indexer *store)
{
    size_t at = r->shown;
    return !indexer_next(store, &at);
}

/* Any call may remove the handler, which then stays allocated until leave(). */
size_t handler_list_deliver_initial(struct handler_list *list, const struct indexer *store, size_t max)
{
    struct change change = {.call = NOTIFY_ADD, .info = {.initial = true}};
    size_t done = 0;
    must(list->depth == 0);
    if (!list->delivering_initial) begin_showing(list);
    struct registration *r = first_shown(list);
    if (!r) { /* the last waiting handler was removed */
        list->delivering_initial = false;
        return 0;
    }
    /* A cache that is older than the handler says nothing about how late the handler is. */
    if (list->listed_us >= r->handler.since_us) change.info.received_us = list->listed_us;
    change.info.warm = list->warm;
    list->depth++;
    for (; done < max && !r->removed && (change.object = indexer_next(store, &r->shown)); done++)
        registration_notify(r, &change);
    /* Checked here, so that the handler is active as soon as it has received everything, without another
     * slice. */
    if (!r->removed && was_shown_all(r, store)) r->stage = HANDLER_ACTIVE;
    leave(list);
    list->delivering_initial = first_shown(list) != NULL;
    return done;
}

/* Frees the registration when no call is in flight. No call follows, not even for the delta in progress (I-9,
 * better). */
void handler_list_remove(struct handler_list *list, struct registration *registration)
{
    must(!registration->removed);
    registration->removed = true;
    if (list->depth == 0) sweep(list);
}

void handler_list_replace(struct handler_list *list, struct registration *registration,
                          const struct event_handler *handler, int64_t now_ms)
{
    registration_replace(registration, handler, now_ms);
    count_owners(list);
}

int64_t handler_list_resync_ms(const struct handler_list *list)
{
    int64_t shortest_ms = RESYNC_NEVER;
    for (size_t i = 0; i < list->count; i++) {
        int64_t period_ms = registration_resync_ms(list->items[i]);
        if (list->items[i]->removed || period_ms == RESYNC_NEVER) continue;
        if (shortest_ms == RESYNC_NEVER || period_ms < shortest_ms) shortest_ms = period_ms;
    }
    return shortest_ms;
}

bool handler_list_pick_due(struct handler_list *list, int64_t now_ms)
{
    bool any = false;
    /* Not `||`: every handler must decide, as each keeps its own next time (I-16). */
    for (size_t i = 0; i < list->count; i++) any |= registration_is_due(list->items[i], now_ms);
    return any;
}

bool registration_initial_done(const struct registration *registration)
{
    return registration->stage == HANDLER_ACTIVE;
}

/* A handler is synced when it received the first list, not when the store has it (I-6). */
bool registration_has_synced(const struct registration *registration)
{
    return registration_initial_done(registration) && registration->list->synced;
}

/* --- Calls of handlers in slices */

void cursor_open_list(struct cursor *cursor, const struct replacement *replaced, struct root *const *objects,
                      const struct event_info *info)
{
    must(!cursor->open);
    *cursor = (struct cursor){
        .info = *info,
        .replaced = *replaced,
        .objects = objects,
        .vanished = replaced->vanished_count,
        .end = replaced->vanished_count + replaced->count,
        .open = true,
    };
}

void cursor_open_resync(struct cursor *cursor, struct indexer *store, const struct event_info *info)
{
    must(!cursor->open);
    *cursor = (struct cursor){.info = *info, .open = true};
    cursor->info.resync = true;
    /* A resync has no bytes whose latency could be measured. */
    cursor->info.received_us = 0;
    /* References to the objects of this moment: the slices must not depend on what handlers do meanwhile. */
    lister_list(store, STR(""), NULL, NULL, &cursor->resynced);
    cursor->end = cursor->resynced.count;
}

void cursor_clear(struct cursor *cursor)
{
    if (!cursor->open) return;
    replacement_clear(&cursor->replaced);
    lister_free_list(&cursor->resynced);
    *cursor = (struct cursor){0};
}

/* A delete that no event reported, with the last known object and a flag (Q-8, B-5). */
static struct change vanished(const struct cursor *cursor, size_t i)
{
    struct root *last = cursor->replaced.vanished[i];
    struct change change = {.call = NOTIFY_DELETE, .before = last, .object = last, .info = cursor->info};
    /* Only adds can be part of the initial state. */
    change.info.initial = false;
    change.info.final_state_unknown = change.info.shard != SHARD_LOST;
    return change;
}

static struct change change_at(const struct cursor *cursor, size_t i)
{
    if (cursor->resynced.count) {
        struct root *object = cursor->resynced.objects[i];
        return (struct change){NOTIFY_RESYNC, object, object, cursor->info};
    }
    if (i < cursor->vanished) return vanished(cursor, i);
    i -= cursor->vanished;
    struct change change = change_of_put(cursor->replaced.before[i], cursor->objects[i], &cursor->info);
    if (cursor->ranges && change.call == NOTIFY_ADD && !change.info.initial &&
        ranges_gained(cursor->ranges, change.object))
        change.info.shard = SHARD_GAINED;
    return change;
}

/* Returns whether the slot of the object was lost since. */
static bool is_disowned(const struct cursor *cursor, const struct root *object)
{
    const struct ranges *ranges = cursor->ranges;
    return ranges && ranges->is_losing && !ranges_want(ranges, object);
}

size_t cursor_run(struct cursor *cursor, struct handler_list *handlers, size_t max)
{
    size_t done = 0;
    for (; done < max && cursor->at < cursor->end; done++) {
        struct change change = change_at(cursor, cursor->at++);
        change.info.disowned = is_disowned(cursor, change.object);
        handler_list_notify(handlers, &change);
    }
    if (cursor->at == cursor->end) cursor_clear(cursor);
    return done;
}
