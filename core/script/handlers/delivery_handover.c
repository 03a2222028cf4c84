/* Hands over what a handler was not told of yet, to its successor at a reload; see delivery.h. */
#include "informer/shared/shared_factory.h"
#include "script/handlers/delivery.h"
#include "script/handlers/handler_call.h"

/* Ends the handover: the pending events of `from` are in `to`, and `from` begins no call any more. */
static void end_hand_over(struct script_handler *from, struct script_handler *to)
{
    to->errors += from->errors;
    handler_metrics_follow(&to->metrics, &from->metrics);
    delivery_leave_due(from);
    delivery_note_pending(to);
    delivery_go_on(to);
}

void delivery_handover(struct script_handler *from, struct script_handler *to)
{
    struct handler_event event;
    /* Windows move with their times, so that a reload neither delays nor hastens them. Without a debounce in
     * `to`, or after the move, what is left becomes pending now. */
    if (from->debounce && to->debounce) {
        debounce_move(from->debounce, to->debounce);
        handler_metrics_debounced(&to->metrics, to->debounce->count);
    }
    if (from->debounce) debounce_flush(from->debounce);
    untold_move(&from->untold, &to->untold);
    handler_calls_move(from, to); /* before the events: unlocks the keys that pending_take would pass over */
    while (pending_take(&from->pending, &event)) {
        if (to->functions[event.type] != LUA_NOREF) delivery_put(to, &event);
        event_let_go(&event);
    }
    while (pending_take(&from->kept, &event)) {
        pending_append(&to->kept, &event);
        event_let_go(&event);
    }
    end_hand_over(from, to);
}

static void append(struct script_handler *h, const struct handler_event *event)
{
    if (h->functions[event->type] != LUA_NOREF) pending_append(&h->pending, event);
}

/* A handler that starts over may read other objects, or filter them. Its filter function may remove it. */
static bool wants(struct script_handler *to, const struct script_handler *from, struct root *object)
{
    const struct filter *filter = to->options->filter;
    if (!claim_reads(to->claim, from->claim, object)) return false;
    if (filter && !filter_passes(filter, object)) return false;
    return to->filter == LUA_NOREF || (handler_filter_passes(to, object) && !to->removed);
}

/* Appends the delete, and before it an add of the last delivered state if `to` gets an initial delivery,
 * which cannot contain the object any more. The same holds if `from` was itself about to deliver such an
 * add. */
static void append_delete(struct script_handler *from, struct script_handler *to,
                          const struct handler_event *event)
{
    if (to->functions[event->type] == LUA_NOREF) return;
    if (!wants(to, from, event->old_object ? event->old_object : event->object)) return;
    struct handler_event gone = *event, add = {.type = ON_ADD, .object = event->old_object, .recalled = true};
    add.info.initial = true;
    gone.recalled = false;
    if (add.object && (!to->from_now_on || event->recalled)) append(to, &add);
    append(to, &gone);
}

/* Merges first, so that an object that came and went unseen leaves neither add nor delete. */
void delivery_handover_deletes(struct script_handler *from, struct script_handler *to)
{
    struct handler_event event;
    struct pending_events joined;
    pending_init(&joined, 0, PENDING_PICK_DELETES, false);
    if (from->debounce) debounce_clear(from->debounce); /* deletes are never debounced */
    if (to->from_now_on && claims_share(from->claim, to->claim))
        untold_move(&from->untold, &to->untold);
    else
        untold_start_over(&to->untold);
    handler_calls_move(from, to);
    while (pending_take(&from->pending, &event) || pending_take(&from->kept, &event)) {
        pending_put(&joined, &event);
        event_let_go(&event);
    }
    while (pending_take(&joined, &event)) {
        if (event_is_end(event.type)) append_delete(from, to, &event);
        event_let_go(&event);
    }
    end_hand_over(from, to);
}
