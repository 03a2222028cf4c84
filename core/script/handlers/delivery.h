/* Calls of a handler's functions for events. Events to debounce are kept first (debounce.h). A call that does
 * not wait is made straight from the informer's pop; while calls wait, as many as the handler's concurrency
 * and never two of one key, later events lie in the handler's pending list, and the handlers of others go on.
 * Owner: the handler. On the engine thread, outside of any call into Lua. */
#pragma once
#include "script/handlers/handler.h"

/* Returns the callbacks for an informer; ctx is the handler. */
struct event_handler delivery_callbacks(struct script_handler *handler);
/* Goes on with pending lists, a part of each in one turn of the loop. */
void deliveries_turn(struct script *script);
/* For handler_new. */
void delivery_init(struct script_handler *handler);
/* Stops calling the handler: its pending events are skipped, and so are all later ones. */
void delivery_quarantined(struct script_handler *handler);
/* Drops pending and debounced events and cancels calls in flight, except a call that is removing its own
 * handler: that one finishes. */
void delivery_end(struct script_handler *handler);
/* For a reload: `to`, which follows `from` under the same id, delivers all that `from` has not received yet,
 * and waits for the calls of `from` that wait as if they were its own: to their ends the order of events
 * stays as it is. `from` must be notified of nothing from then on; it may be removed, also while such calls
 * wait.
 */
void delivery_handover(struct script_handler *from, struct script_handler *to);
/* As delivery_handover, for a handler that starts over. Only pending deletes move, since the cache cannot
 * show them. Not moved: deletes of objects whose add was never delivered, and of objects that `to` does not
 * read or filters out. If `to` is shown the cache, each delete follows an add of the last delivered state.
 * The filter's function may remove any handler of its script; the caller has a reference to `to`. */
void delivery_handover_deletes(struct script_handler *from, struct script_handler *to);
/* Returns the number of events that wait for calls, or for their objects to be quiet. */
size_t delivery_backlog(const struct script_handler *handler);
/* Drops these events; calls in flight continue. */
void delivery_forget(struct script_handler *handler);
/* Continues after the call that it waited for: the rest comes in the next turn. */
void delivery_go_on(struct script_handler *handler);
/* The last reference to the handler is gone. */
void delivery_free(struct script_handler *handler);
/* Returns whether initial objects are pending, or calls for them in flight. */
bool delivery_has_initial(const struct script_handler *handler);
