/* Handlers and their calls; see handler_list.h. */
#include "informer/handler_list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

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
}

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

void handler_list_next_turn(struct handler_list *list)
{
    must(list->depth == 0);
    list->turn++;
}

void handler_list_tell(struct handler_list *list, const struct change *change)
{
    list->depth++;
    for (size_t i = 0; i < list->count; i++) { /* the list may grow and move meanwhile */
        const struct registration *r = list->items[i];
        if (!r->removed && r->since < list->turn) registration_tell(r, change);
    }
    leave(list);
}

static bool show_object(void *ctx, struct root *object)
{
    const struct registration *r = ctx;
    registration_tell(r, &(struct change){.call = HANDLER_ADD, .object = object, .info = {.initial = true}});
    return !r->removed;
}

void handler_list_add(struct handler_list *list, const struct event_handler *handler, int64_t now_ms,
                      const struct indexer *store, struct registration **registration)
{
    struct registration *r = registration_new(handler, now_ms);
    r->list = list;
    r->since = list->turn;
    if (list->count == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 4;
        list->items = xrealloc(list->items, list->cap * sizeof(struct registration *));
    }
    list->items[list->count++] = r;
    *registration = r;
    list->depth++;
    indexer_each(store, show_object, r);
    r->told = true;
    leave(list);
}

/* I-9 (BEAT) */
void handler_list_remove(struct handler_list *list, struct registration *registration)
{
    must(!registration->removed);
    registration->removed = true;
    if (list->depth == 0) sweep(list);
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
    for (size_t i = 0; i < list->count; i++) any |= registration_is_due(list->items[i], now_ms);
    return any;
}

/* I-6 */
bool registration_has_synced(const struct registration *registration)
{
    return registration->told && registration->list->synced;
}
