/* From deltas to the store and the handlers; see shared_informer.h. */
#include "informer/shared_informer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/lister.h"

struct registration {
    struct event_handler handler;
    bool synced;
    bool removed; /* freed when no delivery is under way */
};

struct shared_informer {
    char *name;
    struct delta_fifo *fifo;
    struct indexer *store;
    struct registration **registrations;
    size_t count;
    int delivering; /* depth: a handler may add a handler, which is told of the cache inside */
    bool synced;
    void (*on_synced)(void *ctx);
    void *synced_ctx;
    void (*ready)(void *ctx);
    void *ready_ctx;
};

/* On the producer's thread. */
static void on_fifo_ready(void *ctx)
{
    struct shared_informer *informer = ctx;
    if (informer->ready) informer->ready(informer->ready_ctx);
}

struct shared_informer *shared_informer_new(const char *name, void (*on_synced)(void *ctx), void *ctx)
{
    struct shared_informer *informer = NEW(struct shared_informer);
    informer->name = xstrdup(name);
    informer->fifo = delta_fifo_new(on_fifo_ready, informer);
    informer->store = indexer_new();
    informer->on_synced = on_synced;
    informer->synced_ctx = ctx;
    return informer;
}

void shared_informer_free(struct shared_informer *informer)
{
    if (!informer) return;
    must(informer->delivering == 0);
    for (size_t i = 0; i < informer->count; i++) free(informer->registrations[i]);
    free(informer->registrations);
    delta_fifo_free(informer->fifo);
    indexer_free(informer->store);
    free(informer->name);
    free(informer);
}

void shared_informer_set_ready(struct shared_informer *informer, void (*ready)(void *ctx), void *ctx)
{
    informer->ready = ready;
    informer->ready_ctx = ctx;
}

/* --- delivery
 * --------------------------------------------------------------------------------------------------- */

enum call { CALL_ADD, CALL_UPDATE, CALL_DELETE };

static void call_one(struct registration *r, enum call call, struct root *before, struct root *object,
                     const struct event_info *info)
{
    const struct event_handler *h = &r->handler;
    if (r->removed) return;
    if (call == CALL_ADD && h->on_add) h->on_add(h->ctx, object, info);
    if (call == CALL_UPDATE && h->on_update) h->on_update(h->ctx, before, object, info);
    if (call == CALL_DELETE && h->on_delete) h->on_delete(h->ctx, object, info);
}

static void sweep(struct shared_informer *informer)
{
    size_t kept = 0;
    for (size_t i = 0; i < informer->count; i++) {
        if (informer->registrations[i]->removed)
            free(informer->registrations[i]);
        else
            informer->registrations[kept++] = informer->registrations[i];
    }
    informer->count = kept;
}

static void leave(struct shared_informer *informer)
{
    if (--informer->delivering == 0) sweep(informer);
}

/* Handlers that are added by one of these calls are not told: they see the object in the cache they are
 * shown. */
static void distribute(struct shared_informer *informer, enum call call, struct root *before,
                       struct root *object, const struct event_info *info)
{
    size_t count = informer->count;
    informer->delivering++;
    for (size_t i = 0; i < count; i++) call_one(informer->registrations[i], call, before, object, info);
    leave(informer);
}

/* The same object, or one that only its version text proves the same (B-4). */
static bool is_unchanged(const struct root *a, const struct root *b)
{
    struct text text_a, text_b;
    if (a == b) return true;
    struct str version = root_resource_version(a, &text_a);
    if (version.n == 0 || !str_eq(version, root_resource_version(b, &text_b))) return false;
    return str_eq(root_uid(a, &text_a), root_uid(b, &text_b));
}

/* what counts is whether the store knows the key, not what the server called the event. */
static void deliver_object(struct shared_informer *informer, struct root *before, struct root *object,
                           const struct event_info *info)
{
    if (!before)
        distribute(informer, CALL_ADD, NULL, object, info);
    else if (!is_unchanged(before, object))
        distribute(informer, CALL_UPDATE, before, object, info);
}

/* --- deltas
 * ----------------------------------------------------------------------------------------------------- */

static void note_version(struct shared_informer *informer, const struct root *object)
{
    struct text text;
    struct str version = root_resource_version(object, &text);
    if (version.n) indexer_set_resource_version(informer->store, version); /* S-10 */
}

static void process_put(struct shared_informer *informer, const struct delta *delta,
                        const struct event_info *info)
{
    struct root *before = indexer_put(informer->store, root_ref(delta->object));
    note_version(informer, delta->object);
    deliver_object(informer, before, delta->object, info);
    root_unref(before);
}

/* Handlers are told also when the store never had the key. */
static void process_delete(struct shared_informer *informer, const struct delta *delta,
                           const struct event_info *info)
{
    root_unref(indexer_remove(informer->store, delta->object));
    note_version(informer, delta->object);
    distribute(informer, CALL_DELETE, NULL, delta->object, info);
}

struct vanished {
    char *key;
    struct root *object;
};

struct vanished_list {
    const struct indexer *now;
    struct vanished *items;
    size_t count, cap;
};

static bool collect_vanished(void *ctx, struct root *object)
{
    struct vanished_list *list = ctx;
    if (indexer_get_like(list->now, object)) return true;
    if (list->count == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 16;
        list->items = xrealloc(list->items, list->cap * sizeof *list->items);
    }
    struct buf key = {0};
    root_key(object, &key);
    list->items[list->count++] = (struct vanished){buf_take(&key), object};
    return true;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct vanished *)a)->key, ((const struct vanished *)b)->key);
}

/* Deletes that nobody saw, sorted by key (Q-7, B-9), each with its last known object and a flag (B-5). */
static void deliver_vanished(struct shared_informer *informer, const struct indexer *before,
                             const struct event_info *info)
{
    struct vanished_list list = {.now = informer->store};
    struct event_info unknown = *info;
    unknown.initial = false;
    unknown.final_state_unknown = true;
    indexer_each(before, collect_vanished, &list);
    if (list.count) qsort(list.items, list.count, sizeof *list.items, by_key);
    for (size_t i = 0; i < list.count; i++) {
        distribute(informer, CALL_DELETE, NULL, list.items[i].object, &unknown);
        free(list.items[i].key);
    }
    free(list.items);
}

/* Q-7, V7: the store first, then the deletes, then the items in list order against what was there before. */
static void process_replace(struct shared_informer *informer, const struct delta *delta,
                            const struct event_info *info)
{
    struct indexer *before = indexer_new();
    for (size_t i = 0; i < delta->count; i++) root_unref(indexer_put(before, root_ref(delta->objects[i])));
    indexer_set_resource_version(before, str_of(delta->resource_version));
    indexer_swap(informer->store, before);
    deliver_vanished(informer, before, info);
    for (size_t i = 0; i < delta->count; i++)
        deliver_object(informer, indexer_get_like(before, delta->objects[i]), delta->objects[i], info);
    indexer_free(before);
}

/* I-17: the server is not asked and nothing is compared. */
static void process_resync(struct shared_informer *informer, const struct event_info *info)
{
    struct lister_list list;
    struct event_info resync = *info;
    resync.resync = true;
    lister_list(informer->store, STR(""), NULL, &list);
    for (size_t i = 0; i < list.count; i++)
        distribute(informer, CALL_UPDATE, list.objects[i], list.objects[i], &resync);
    lister_free_list(&list);
}

/* the first list was processed, every handler was told. */
static void become_synced(struct shared_informer *informer)
{
    informer->synced = true;
    for (size_t i = 0; i < informer->count; i++) informer->registrations[i]->synced = true;
    if (informer->on_synced) informer->on_synced(informer->synced_ctx);
}

static void process_one(struct shared_informer *informer, const struct delta *delta)
{
    const struct event_info info = {
        .initial = !informer->synced, .coalesced = delta->coalesced, .received_us = delta->received_us};
    switch (delta->type) {
    case DELTA_ADDED:
    case DELTA_UPDATED: process_put(informer, delta, &info); break;
    case DELTA_DELETED: process_delete(informer, delta, &info); break;
    case DELTA_REPLACED_ALL: process_replace(informer, delta, &info); break;
    case DELTA_SYNC_ALL: process_resync(informer, &info); break;
    case DELTA_BOOKMARK:
        indexer_set_resource_version(informer->store, str_of(delta->resource_version));
        break;
    }
    if (!informer->synced && delta->type == DELTA_REPLACED_ALL) become_synced(informer);
}

size_t shared_informer_process(struct shared_informer *informer, size_t max)
{
    struct delta *batch;
    size_t count = delta_fifo_take(informer->fifo, max, &batch);
    for (size_t i = 0; i < count; i++) process_one(informer, &batch[i]);
    delta_fifo_release(informer->fifo, batch, count);
    return count;
}

/* --- registrations
 * ---------------------------------------------------------------------------------------------- */

/* I-5: nothing can come between, as deltas are processed on this thread. */
static void show_cache(struct shared_informer *informer, struct registration *r)
{
    struct lister_list list;
    const struct event_info info = {.initial = true};
    lister_list(informer->store, STR(""), NULL, &list);
    informer->delivering++;
    for (size_t i = 0; i < list.count; i++) call_one(r, CALL_ADD, NULL, list.objects[i], &info);
    r->synced = true;
    leave(informer);
    lister_free_list(&list);
}

struct registration *shared_informer_add_handler(struct shared_informer *informer,
                                                 const struct event_handler *handler)
{
    struct registration *r = NEW(struct registration);
    r->handler = *handler;
    informer->registrations =
        xrealloc(informer->registrations, (informer->count + 1) * sizeof *informer->registrations);
    informer->registrations[informer->count++] = r;
    if (informer->synced) show_cache(informer, r);
    return r;
}

void shared_informer_remove_handler(struct shared_informer *informer, struct registration *registration)
{
    must(!registration->removed);
    registration->removed = true;
    if (informer->delivering == 0) sweep(informer);
}

bool registration_has_synced(const struct registration *registration)
{
    return registration->synced;
}

bool shared_informer_has_synced(const struct shared_informer *informer)
{
    return informer->synced;
}

struct indexer *shared_informer_indexer(struct shared_informer *informer)
{
    return informer->store;
}

struct delta_fifo *shared_informer_fifo(struct shared_informer *informer)
{
    return informer->fifo;
}

const char *shared_informer_name(const struct shared_informer *informer)
{
    return informer->name;
}
