/* The handlers of one informer, told of each change in the order in which they were added.
 * Owner: the applier that embeds it. Handlers may add and remove handlers, their own included, from
 * inside any call: none is skipped, none is told twice. The same functions may be there many times (I-4). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/shared/registration.h"
#include "informer/store/indexer.h"
#include "informer/store/lister.h"

struct handler_list {
    struct registration **items;
    size_t count;
    uint64_t turn;           /* number of the delta that is being processed, or was last */
    bool synced;             /* the first list was processed and everybody told */
    bool waiting;            /* a new handler waits for the next initial delivery */
    bool delivering_initial; /* one is */
    int depth;               /* of calls under way; what is removed is freed when it is 0 */
};

void handler_list_clear(struct handler_list *list);
/* A new delta begins: from now on those hear of it that are in the list already. */
void handler_list_begin_delta(struct handler_list *list);
/* Tells every handler that was there when the turn began. */
void handler_list_notify(struct handler_list *list, const struct change *change);
/* Adds a handler, which waits to be shown the whole of `store` (I-5), if there is anything in it. Until then
 * it hears of nothing: what changes meanwhile, the store has when it is shown. */
void handler_list_add(struct handler_list *list, const struct event_handler *handler, int64_t now_ms,
                      const struct indexer *store, struct registration **registration);
/* Delivers at most `max` initial objects to the first waiting handler and returns how many. The store must
 * not change, and no turn may begin, while a delivery is in progress. Handlers added meanwhile wait for the
 * next one, so every delivery ends. */
size_t handler_list_deliver_initial(struct handler_list *list, const struct indexer *store, size_t max);
void handler_list_remove(struct handler_list *list, struct registration *registration);

/* The shortest period that a handler wants (I-15), RESYNC_NEVER for none. */
int64_t handler_list_resync_ms(const struct handler_list *list);
/* Picks those that are due at this instant (I-16); false when none is. */
bool handler_list_pick_due(struct handler_list *list, int64_t now_ms);

/* --- Pending calls of handlers for one delta: the objects of a list, or of a resync, delivered in slices so
 * that timers and other informers have their turns meanwhile. The store has the result from the beginning on,
 * and nothing changes it before the last call. Owner: the applier that embeds it, on the engine thread.
 * Handlers may add and remove handlers meanwhile. */

struct cursor {
    struct event_info info;
    struct replacement replaced; /* of a list; owned */
    struct root *const *objects; /* its items; borrowed */
    struct lister_list resynced; /* of a resync; owned */
    size_t at, vanished, end;    /* told; how many of the first are deletes; to tell */
    bool open;
};

/* A list took effect: first the deletes nobody saw, sorted by key, then the items in list order against what
 * was there before (Q-7, Q-9, V7, B-9). Takes what `replaced` owns; `objects` must stay until it is done. */
void cursor_open_list(struct cursor *cursor, const struct replacement *replaced, struct root *const *objects,
                      const struct event_info *info);
/* Every object of the store, for those handlers that were picked. */
void cursor_open_resync(struct cursor *cursor, struct indexer *store, const struct event_info *info);
/* Tells at most `max` objects; returns how many. Closes when it has told the last. */
size_t cursor_run(struct cursor *cursor, struct handler_list *handlers, size_t max);
void cursor_clear(struct cursor *cursor);
