/* Handlers of one informer, notified of each change in the order in which they were added. Owner: the applier
 * that embeds it. Handlers may add and remove handlers, their own included, from inside any call: none is
 * skipped, none is notified twice. The same functions may be added many times (I-4). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "informer/shared/ranges.h"
#include "informer/shared/registration.h"
#include "informer/store/indexer.h"
#include "informer/store/lister.h"

struct handler_list {
    struct registration **items;
    size_t count;
    size_t owners;           /* runs of handlers with one owner */
    uint64_t turn;           /* number of the delta that is being processed, or was last */
    bool synced;             /* the first list was processed and every handler notified */
    bool waiting;            /* a new handler waits for the next initial delivery */
    bool delivering_initial; /* an initial delivery is in progress */
    int64_t listed_us;       /* wall time at which the last list was received */
    bool warm;               /* the last list was that of an earlier run */
    int depth;               /* number of nested calls; removed registrations are freed when it is 0 */
};

void handler_list_clear(struct handler_list *list);
/* Begins a delta, of which the handlers that are in the list now are notified. */
void handler_list_begin_delta(struct handler_list *list);
/* Notifies every handler that was there when the delta began. */
void handler_list_notify(struct handler_list *list, const struct change *change);
/* Notifies the handlers of all the changes, those of one owner before the next: what many scripts have in the
 * caches of the processor is needed once for all changes. */
void handler_list_notify_all(struct handler_list *list, const struct change *changes, size_t count);
/* Adds a handler, which waits for the initial delivery of `store` (I-5) unless that is empty. Until then it
 * is not notified: the store will hold the changes of that time. */
void handler_list_add(struct handler_list *list, const struct event_handler *handler, int64_t now_ms,
                      const struct indexer *store, struct registration **registration);
/* Delivers at most `max` initial objects to the first waiting handler and returns how many. The store must
 * not change, and no turn may begin, while a delivery is in progress. Handlers added meanwhile wait for the
 * next one, so every delivery ends. */
size_t handler_list_deliver_initial(struct handler_list *list, const struct indexer *store, size_t max);
void handler_list_remove(struct handler_list *list, struct registration *registration);
/* Replaces the handler of the registration (registration.h). */
void handler_list_replace(struct handler_list *list, struct registration *registration,
                          const struct event_handler *handler, int64_t now_ms);

/* Returns the shortest resync period of all handlers (I-15), RESYNC_NEVER for none. */
int64_t handler_list_resync_ms(const struct handler_list *list);
/* Marks the handlers that are due at this time (I-16); returns false if none is. */
bool handler_list_pick_due(struct handler_list *list, int64_t now_ms);

/* --- Pending calls of handlers for one delta: the objects of a list or of a resync, delivered in slices so
 * that timers and other informers have their turns meanwhile. The store has the result from the beginning on,
 * and does not change before the last call. Owner: the applier that embeds it, on the engine thread. Handlers
 * may add and remove handlers meanwhile. */

struct cursor {
    struct event_info info;
    struct replacement replaced; /* of a list; owned */
    struct root *const *objects; /* its items; borrowed */
    struct lister_list resynced; /* of a resync; owned */
    const struct ranges *ranges; /* of the cache, if it holds objects of some slots alone; borrowed */
    size_t at, vanished, end; /* objects delivered; how many of the first are deletes; objects to deliver */
    bool open;
};

/* Opens the calls of a list that took effect: first the deletes that no event reported, sorted by key, then
 * the items in list order against the previous objects (Q-7, Q-9, V7, B-9). Takes the content of `replaced`;
 * `objects` must stay until the cursor is closed. */
void cursor_open_list(struct cursor *cursor, const struct replacement *replaced, struct root *const *objects,
                      const struct event_info *info);
/* Opens a resync of every object in the store, for the handlers that were picked. */
void cursor_open_resync(struct cursor *cursor, struct indexer *store, const struct event_info *info);
/* Delivers at most `max` objects; returns how many. Closes after the last. */
size_t cursor_run(struct cursor *cursor, struct handler_list *handlers, size_t max);
void cursor_clear(struct cursor *cursor);
