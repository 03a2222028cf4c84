/* From events to calls; see delivery.h. */
#include "script/delivery.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "script/handler_filter.h"
#include "script/view.h"

/* Of one handler's pending list in one turn of the loop. */
enum { EVENTS_PER_TURN = 100 };

/* A call of a handler. One that waits is in two lists: that of the handler whose function it is, and that of
 * the one whose other events wait for its end. These are the same, but for calls that a reload has left
 * behind. */
struct handler_call {
    TAILQ_ENTRY(handler_call) waiting_link, busy_link;
    struct script_handler *handler; /* a reference while it waits */
    struct script_handler *holder;  /* NULL: nobody waits for it any more */
    struct pending_key *key;        /* held in the holder's list; NULL: all of them are */
    struct task *task;
    const struct event *event; /* of the call, whether it waits or not */
    struct event kept;         /* the same once it waits, with references */
    int64_t begun_ns;
};

/* An object that a late handler is shown from the cache came at a time that nobody kept: its time is now. */
static void push_event(lua_State *L, const struct handler_call *call)
{
    struct text text;
    const struct event_info *info = &call->event->info;
    struct str version = root_resource_version(call->event->object, &text);
    int64_t time_us = info->received_us;
    if (!time_us) time_us = clock_wall_us(script_clock(call->handler->script));
    push_ref(L, call->handler->script, REF_NEW_EVENT);
    lua_pushboolean(L, info->initial);
    lua_pushboolean(L, info->final_state_unknown);
    lua_pushboolean(L, info->resync);
    lua_pushboolean(L, info->coalesced);
    lua_pushboolean(L, info->filtered);
    lua_pushlstring(L, version.n ? version.p : "", version.n);
    lua_pushnumber(L, (lua_Number)time_us / 1e6);
    lua_call(L, 7, 1);
}

static void prepare(lua_State *L, void *ctx)
{
    const struct handler_call *call = ctx;
    const struct event *event = call->event;
    if (event->old_object) view_push_object(L, event->old_object);
    view_push_object(L, event->object);
    if (call->handler->wants_event[event->type]) push_event(L, call);
    if (event->type != ON_ADD) view_note_dead(L, 1);
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

static void ended(const struct handler_call *call, enum script_result result)
{
    struct script_handler *h = call->handler;
    const struct event *event = call->event;
    handler_metrics_end(&h->metrics, event->type, call->begun_ns);
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) return;
    if (!h->removed && !h->script->failure.line)
        report_place(&h->report, h->script->L, h->functions[event->type]);
    handler_failed(h, SCRIPT_HANDLER, handler_event_names[event->type], event->object, result);
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

/* --- calls that wait */

static void begin_to_wait(struct handler_call *call)
{
    struct script_handler *h = call->handler;
    h->spare = NULL;
    h->refs++;
    call->kept = event_copy(call->event);
    call->event = &call->kept;
    call->holder = h;
    call->key = h->pending.by_key ? pending_hold(&h->pending, call->event->object) : NULL;
    TAILQ_INSERT_TAIL(&h->waiting, call, waiting_link);
    TAILQ_INSERT_TAIL(&h->busy, call, busy_link);
    h->waiting_count++;
    h->busy_count++;
    handler_metrics_busy(&h->metrics, h->busy_count);
}

/* Nothing waits for its end any more. */
static void let_others_in(struct handler_call *call)
{
    struct script_handler *h = call->holder;
    if (!h) return;
    call->holder = NULL;
    if (call->key) pending_release(&h->pending, call->key);
    TAILQ_REMOVE(&h->busy, call, busy_link);
    h->busy_count--;
    handler_metrics_busy(&h->metrics, h->busy_count);
    if (pending_has_next(&h->pending)) come_back(h);
}

/* The call that waited has ended. */
static void on_done(void *ctx, enum script_result result)
{
    struct handler_call *call = ctx;
    struct script_handler *h = call->handler;
    TAILQ_REMOVE(&h->waiting, call, waiting_link);
    h->waiting_count--;
    ended(call, result);
    let_others_in(call);
    event_let_go(&call->kept);
    free(call);
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
    const struct handler_call *call = ctx;
    buf_puts(caller, call->handler->id);
    buf_printf(trigger, "%s ", handler_event_names[call->event->type]);
    root_key(call->event->object, trigger);
}

static bool is_told(const struct script_handler *h)
{
    if (h->removed || h->script->phase == SCRIPT_STOPPING) return false;
    return !h->leader || script_leads(h->script);
}

static struct handler_call *next_call(struct script_handler *h, const struct event *event)
{
    if (!h->spare) h->spare = NEW(struct handler_call);
    h->spare->handler = h;
    h->spare->event = event;
    return h->spare;
}

/* The caller holds a reference to the handler. Borrows the event; one whose call waits is kept. */
static void begin(struct script_handler *h, const struct event *event)
{
    struct handler_call *call = next_call(h, event);
    metric_inc(METRIC_HANDLER_CALLS);
    count(h->script, event->type);
    call->begun_ns = handler_metrics_begin(&h->metrics, event->type, handler_event_names[event->type],
                                           event->info.received_us);
    const struct task_call task_call = {.what = "a handler",
                                        .function = h->functions[event->type],
                                        .fence = h->leader ? leading_fence(h->script) : NULL,
                                        .prepare = prepare,
                                        .prepare_ctx = call,
                                        .done = on_done,
                                        .describe = describe,
                                        .ctx = call};
    enum script_result result = task_run(h->script, &task_call, &call->task);
    if (result == SCRIPT_YIELDED)
        begin_to_wait(call);
    else
        ended(call, result);
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
    begin(h, event);
    handler_unref(h);
    handlers_attach(script);
}

/* In this turn of the loop. */
static bool may_go_on(const struct script_handler *h)
{
    return h->busy_count < h->concurrency && is_told(h);
}

static void advance(struct script_handler *h)
{
    struct event event;
    if (!is_told(h)) return;
    h->refs++;
    for (int i = 0; i < EVENTS_PER_TURN && may_go_on(h) && pending_take(&h->pending, &event); i++) {
        begin(h, &event);
        event_let_go(&event);
        if (turns_over(h->script)) break;
    }
    handler_metrics_pending(&h->metrics, h->pending.count);
    if (may_go_on(h) && pending_has_next(&h->pending)) come_back(h);
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
    struct handler_call *call, *next;
    leave_due(h);
    pending_clear(&h->pending);
    for (call = TAILQ_FIRST(&h->waiting); call; call = next) {
        next = TAILQ_NEXT(call, waiting_link);
        if (call->task != h->script->tasks.current) task_cancel(call->task);
    }
}

void delivery_free(struct script_handler *h)
{
    must(h->waiting_count == 0 && h->busy_count == 0);
    free(h->spare);
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
