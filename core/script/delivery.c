/* From events to calls; see delivery.h. */
#include "script/delivery.h"

#include <stdlib.h>

#include "base/must.h"
#include "script/handler_call.h"
#include "script/handler_filter.h"

/* Of one handler's pending list in one turn of the loop. */
enum { EVENTS_PER_TURN = 100 };

static void come_back(struct script_handler *h)
{
    if (h->due) return;
    h->due = true;
    TAILQ_INSERT_TAIL(&h->script->due, h, due_link);
    h->script->due_count++;
    turns_ask(h->script);
}

static void leave_due(struct script_handler *h)
{
    if (!h->due) return;
    h->due = false;
    TAILQ_REMOVE(&h->script->due, h, due_link);
    h->script->due_count--;
}

static bool is_told(const struct script_handler *h)
{
    if (h->removed || h->script->phase == SCRIPT_STOPPING) return false;
    return !h->leader || script_leads(h->script);
}

/* --- events */

static void put(struct script_handler *h, const struct event *event)
{
    if (pending_put(&h->pending, event)) handler_metrics_coalesced(&h->metrics);
    handler_metrics_pending(&h->metrics, h->pending.count);
}

/* Whether it is the event's turn: nothing came before it that it has to wait for. */
static bool may_begin(const struct script_handler *h, const struct event *event)
{
    if (!h->busy_count) return h->pending.count == 0;
    if (h->busy_count >= h->concurrency || pending_has_next(&h->pending)) return false;
    return !pending_is_held(&h->pending, event->object);
}

static void deliver(struct script_handler *h, const struct event *event)
{
    struct script *script = h->script;
    if (!is_told(h) || h->functions[event->type] == LUA_NOREF) return;
    if (!may_begin(h, event)) {
        put(h, event);
        return;
    }
    h->refs++;
    handler_call_begin(h, event);
    handler_unref(h);
    handlers_attach(script);
}

/* In this turn of the loop. */
static bool may_go_on(const struct script_handler *h)
{
    return h->busy_count < h->concurrency && is_told(h);
}

void delivery_go_on(struct script_handler *h)
{
    if (may_go_on(h) && pending_has_next(&h->pending)) come_back(h);
}

static void advance(struct script_handler *h)
{
    struct event event;
    if (!is_told(h)) return;
    h->refs++;
    for (int i = 0; i < EVENTS_PER_TURN && may_go_on(h) && pending_take(&h->pending, &event); i++) {
        handler_call_begin(h, &event);
        event_let_go(&event);
        if (turns_over(h->script)) break;
    }
    handler_metrics_pending(&h->metrics, h->pending.count);
    delivery_go_on(h);
    handler_unref(h);
}

void deliveries_turn(struct script *script)
{
    struct script_handler *h;
    for (size_t left = script->due_count; left > 0 && (h = TAILQ_FIRST(&script->due)); left--) {
        leave_due(h);
        advance(h);
        if (script->host->turns->over) break;
    }
    if (script->due_count > 0) turns_ask(script);
}

void delivery_end(struct script_handler *h)
{
    leave_due(h);
    pending_clear(&h->pending);
    handler_calls_cancel(h);
    handler_calls_disown(h);
}

void delivery_free(struct script_handler *h)
{
    must(h->waiting_count == 0 && h->busy_count == 0);
    free(h->spare);
}

void delivery_hand_over(struct script_handler *from, struct script_handler *to)
{
    struct event event;
    leave_due(from);
    handler_calls_move(from, to);
    to->errors += from->errors;
    while (pending_take(&from->pending, &event)) {
        if (to->functions[event.type] != LUA_NOREF) put(to, &event);
        event_let_go(&event);
    }
    handler_metrics_pending(&to->metrics, to->pending.count);
    delivery_go_on(to);
}

bool delivery_tells_of_list(const struct script_handler *h)
{
    const struct handler_call *call;
    TAILQ_FOREACH (call, &h->busy, busy_link)
        if (call->event->info.initial) return true;
    return h->pending.initial > 0;
}

/* --- what an informer calls */

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    deliver(ctx, &(struct event){ON_ADD, NULL, object, *info});
}

static void on_update(void *ctx, struct root *old_object, struct root *new_object,
                      const struct event_info *info)
{
    deliver(ctx, &(struct event){ON_UPDATE, old_object, new_object, *info});
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    deliver(ctx, &(struct event){ON_DELETE, NULL, last, *info});
}

struct event_handler delivery_callbacks(struct script_handler *handler)
{
    return (struct event_handler){
        .on_add = on_add,
        .on_update = on_update,
        .on_delete = on_delete,
        .ctx = handler,
        .passes = handler->filter == LUA_NOREF ? NULL : handler_filter_passes,
        .options = handler->options,
    };
}
