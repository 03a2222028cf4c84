/* Handlers and their calls; see handler_list.h. */
#include "informer/handler_list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

struct registration {
    struct handler_list *list;
    struct event_handler handler;
    uint64_t since; /* it hears of the turns after this one */
    bool told;      /* of the whole store that was there when it was added */
    bool removed;   /* freed when no call is under way */
};

static void call_one(const struct registration *r, enum handler_call call, struct root *before,
                     struct root *object, const struct event_info *info)
{
    const struct event_handler *h = &r->handler;
    if (call == HANDLER_ADD && h->on_add) h->on_add(h->ctx, object, info);
    if (call == HANDLER_UPDATE && h->on_update) h->on_update(h->ctx, before, object, info);
    if (call == HANDLER_DELETE && h->on_delete) h->on_delete(h->ctx, object, info);
}

static void sweep(struct handler_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->removed)
            free(list->items[i]);
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
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
    *list = (struct handler_list){0};
}

void handler_list_next_turn(struct handler_list *list)
{
    must(list->depth == 0);
    list->turn++;
}

void handler_list_call(struct handler_list *list, enum handler_call call, struct root *before,
                       struct root *object, const struct event_info *info)
{
    list->depth++;
    for (size_t i = 0; i < list->count; i++) { /* the list may grow and move meanwhile */
        const struct registration *r = list->items[i];
        if (!r->removed && r->since < list->turn) call_one(r, call, before, object, info);
    }
    leave(list);
}

struct show {
    const struct registration *registration;
    struct event_info info;
};

static bool show_object(void *ctx, struct root *object)
{
    const struct show *show = ctx;
    call_one(show->registration, HANDLER_ADD, NULL, object, &show->info);
    return !show->registration->removed;
}

void handler_list_add(struct handler_list *list, const struct event_handler *handler,
                      const struct indexer *store, struct registration **registration)
{
    struct registration *r = NEW(struct registration);
    r->list = list;
    r->handler = *handler;
    r->since = list->turn;
    if (list->count == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 4;
        list->items = xrealloc(list->items, list->cap * sizeof(struct registration *));
    }
    list->items[list->count++] = r;
    *registration = r;
    struct show show = {.registration = r, .info = {.initial = true}};
    list->depth++;
    indexer_each(store, show_object, &show);
    r->told = true;
    leave(list);
}

void handler_list_remove(struct handler_list *list, struct registration *registration)
{
    must(!registration->removed);
    registration->removed = true;
    if (list->depth == 0) sweep(list);
}

/* I-6 */
bool registration_has_synced(const struct registration *registration)
{
    return registration->told && registration->list->synced;
}
