/* Delivery of events to the functions of a handler. Events are debounced first (debounce.h). A call that does
 * not yield is made right from the informer's pop, unless the script has used up its time (turns_are_owed):
 * then the handler keeps the change for the next turn. While calls are in flight, at most `concurrency` and
 * never two of one key, later events are pending, and other handlers go on. Owner: the handler. On the engine
 * thread, outside of any call into Lua. */
#pragma once
#include "script/handlers/handler.h"

/* Returns the callbacks for an informer; ctx is the handler. */
struct event_handler delivery_callbacks(struct script_handler *handler);
/* Returns whether events wait until the informers of the script are synced. */
bool delivery_is_held(const struct script_handler *handler);
/* Returns whether the handler is told of the event, of which it makes a loss if need be. `is_lost`: its slot
 * is another replica's. Call for the events of a key in their order. */
bool delivery_tells(struct script_handler *handler, struct handler_event *event, bool is_lost);
/* Delivers pending events, a part of each handler's in one turn of the loop. */
void deliveries_turn(struct script *script);
/* Sets up delivery; for handler_new. */
void delivery_init(struct script_handler *handler);
/* Skips all pending and later events. Call when the handler is quarantined. */
void delivery_quarantined(struct script_handler *handler);
/* Drops pending and debounced events and cancels calls in flight, except a call that is removing its own
 * handler: that one finishes. */
void delivery_end(struct script_handler *handler);
/* Hands pending events of `from` over to `to`, its successor of the same id, at a reload. Events of `to` wait
 * for calls of `from` in flight as for its own, so that the order of events stays. Deliver nothing to `from`
 * from then on; it may be removed even while its calls are in flight. */
void delivery_handover(struct script_handler *from, struct script_handler *to);
/* Like delivery_handover, for a handler that starts over. Only pending deletes and losses move, since the
 * cache cannot deliver them. Not moved: deletes of objects whose add was never delivered, and of objects that
 * `to` does not read or filters out. If `to` gets an initial delivery, each delete follows an add of the last
 * delivered state. The filter function may remove any handler of its script; the caller holds a reference to
 * `to`. */
void delivery_handover_deletes(struct script_handler *from, struct script_handler *to);
/* Returns the number of events that are pending, kept or debounced. */
size_t delivery_backlog(const struct script_handler *handler);
/* Drops pending and debounced events; calls in flight continue. */
void delivery_forget(struct script_handler *handler);
/* Schedules the next pending events. Call when a call in flight has ended. */
void delivery_go_on(struct script_handler *handler);
/* Frees the delivery with the last reference to the handler. */
void delivery_free(struct script_handler *handler);
/* Returns whether initial objects are pending, or calls for them in flight. */
bool delivery_has_initial(const struct script_handler *handler);

/* --- For delivery_handover.c alone. */

/* Adds an event behind the pending ones, with references of its own. */
void delivery_put(struct script_handler *handler, const struct handler_event *event);
/* Updates the metric of pending events. */
void delivery_note_pending(struct script_handler *handler);
/* Takes the handler out of the next turn. */
void delivery_leave_due(struct script_handler *handler);
