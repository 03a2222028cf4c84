/* What many calls of handlers are left of one delta: the objects of a list, or of a resync, told in slices so
 * that timers and other informers have their turns meanwhile. The store has the result from the beginning on,
 * and nothing changes it before the last call. Owner: the applier that embeds it, on the engine thread.
 * Handlers may add and remove handlers meanwhile. */
#pragma once
#include "informer/shared/handler_list.h"
#include "informer/store/lister.h"

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
/* Tells at most `max` objects; gives how many. Closes when it has told the last. */
size_t cursor_run(struct cursor *cursor, struct handler_list *handlers, size_t max);
void cursor_clear(struct cursor *cursor);
