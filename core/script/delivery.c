/* From events to calls; see delivery.h. */
#include "script/delivery.h"

#include "base/log.h"
#include "base/metrics.h"
#include "base/must.h"
#include "script/handler_filter.h"
#include "script/view.h"

/* Of one handler's pending list in one turn of the loop. */
enum { EVENTS_PER_TURN = 100 };

struct delivery {
    struct script_handler *handler;
    const struct event *event;
};

/* An object that a late handler is shown from the cache came at a time that nobody kept: its time is now. */
static void push_event(lua_State *L, const struct delivery *d)
{
    struct text text;
    struct str version = root_resource_version(d->event->object, &text);
    int64_t time_us = d->event->info.received_us;
    if (!time_us) time_us = clock_wall_us(script_clock(d->handler->script));
    push_ref(L, d->handler->script, REF_NEW_EVENT);
    lua_pushboolean(L, d->event->info.initial);
    lua_pushboolean(L, d->event->info.final_state_unknown);
    lua_pushboolean(L, d->event->info.resync);
    lua_pushboolean(L, d->event->info.coalesced);
    lua_pushboolean(L, d->event->info.filtered);
    lua_pushlstring(L, version.n ? version.p : "", version.n);
    lua_pushnumber(L, (lua_Number)time_us / 1e6);
    lua_call(L, 7, 1);
}

static void prepare(lua_State *L, void *ctx)
{
    const struct delivery *d = ctx;
    if (d->event->old_object) view_push_object(L, d->event->old_object);
    view_push_object(L, d->event->object);
    if (d->handler->wants_event[d->event->type]) push_event(L, d);
    if (d->event->type != ON_ADD) view_note_dead(L, 1);
}

/* --- calls */

void handler_failed(struct script_handler *h, enum script_function function, const char *event,
                    const struct root *object, enum script_result result)
{
    struct buf key = {0};
    root_key(object, &key);
    const struct log_field about[] = {
        F("handler", h->id),
        F("event", event),
        FS("key", buf_slice(&key)),
        {.key = NULL},
    };
    h->errors++;
    handler_metrics_failed(&h->metrics);
    /* I-11 (BEAT): the next event follows at once. */
    report_failure(&h->report, h->script, function, result, about);
    buf_clear(&key);
}

static void ended(struct script_handler *h, const struct event *event, int64_t begun_ns,
                  enum script_result result)
{
    handler_metrics_end(&h->metrics, event->type, begun_ns);
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) return;
    if (!h->removed && !h->script->failure.line)
        report_place(&h->report, h->script->L, h->functions[event->type]);
    handler_failed(h, SCRIPT_HANDLER, handler_event_names[event->type], event->object, result);
}

static void let_go(struct event *event)
{
    root_unref(event->old_object);
    root_unref(event->object);
    *event = (struct event){0};
}

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

/* The call that waited has ended. */
static void on_done(void *ctx, enum script_result result)
{
    struct script_handler *h = ctx;
    h->task = NULL;
    ended(h, &h->current, h->begun_ns, result);
    let_go(&h->current);
    if (h->pending.count > 0) come_back(h);
    handler_unref(h);
}

static void count(struct script *script, enum handler_event type)
{
    script->counters.adds += type == ON_ADD;
    script->counters.updates += type == ON_UPDATE;
    script->counters.deletes += type == ON_DELETE;
}

/* For the audit trail. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct script_handler *h = ctx;
    buf_puts(caller, h->id);
    buf_printf(trigger, "%s ", handler_event_names[h->event->type]);
    root_key(h->event->object, trigger);
}

static bool is_told(const struct script_handler *h)
{
    if (h->removed || h->script->phase == SCRIPT_STOPPING) return false;
    return !h->leader || script_leads(h->script);
}

/* The caller holds a reference to the handler. Borrows the event; one whose call waits is kept. */
static void call(struct script_handler *h, const struct event *event)
{
    struct delivery delivery = {h, event};
    metric_inc(METRIC_HANDLER_CALLS);
    count(h->script, event->type);
    int64_t begun_ns = handler_metrics_begin(&h->metrics, event->type, handler_event_names[event->type],
                                             event->info.received_us);
    const struct task_call task_call = {.what = "a handler",
                                        .function = h->functions[event->type],
                                        .fence = h->leader ? leading_fence(h->script) : NULL,
                                        .prepare = prepare,
                                        .prepare_ctx = &delivery,
                                        .done = on_done,
                                        .describe = describe,
                                        .ctx = h};
    h->event = event;
    enum script_result result = task_run(h->script, &task_call, &h->task);
    if (result != SCRIPT_YIELDED) {
        ended(h, event, begun_ns, result);
        return;
    }
    h->refs++;
    h->begun_ns = begun_ns;
    h->current = *event;
    h->event = &h->current;
    if (event->old_object) root_ref(event->old_object);
    root_ref(event->object);
}

static void put(struct script_handler *h, const struct event *event)
{
    if (pending_put(&h->pending, event)) handler_metrics_coalesced(&h->metrics);
    if (event->info.initial) h->initial_until = h->pending.put;
    handler_metrics_pending(&h->metrics, h->pending.count);
}

static void deliver(struct script_handler *h, const struct event *event)
{
    struct script *script = h->script;
    if (!is_told(h) || h->functions[event->type] == LUA_NOREF) return;
    if (h->task || h->pending.count > 0) {
        put(h, event);
        return;
    }
    h->refs++;
    call(h, event);
    handler_unref(h);
    handlers_attach(script);
}

static void advance(struct script_handler *h)
{
    struct event event;
    if (!is_told(h)) return;
    h->refs++;
    for (int i = 0; i < EVENTS_PER_TURN && !h->task && is_told(h) && pending_take(&h->pending, &event); i++) {
        call(h, &event);
        let_go(&event);
        if (turns_over(h->script)) break;
    }
    handler_metrics_pending(&h->metrics, h->pending.count);
    if (!h->task && h->pending.count > 0) come_back(h);
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
    if (h->task && h->task != h->script->tasks.current) task_cancel(h->task);
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
