/* A call of a handler, from its event to its end; see handler_call.h. */
#include "script/handlers/handler_call.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "script/handlers/delivery.h"
#include "script/handlers/leading.h"
#include "script/handlers/sharding.h"
#include "script/view/view.h"
#include "script/vm/call.h"
#include "script/vm/quarantine.h"
#include "script/vm/task.h"

METRIC(metric_handler_calls, 2, "kubelua_handler_calls_total", "Number of event handler calls.");

/* Pushes `ev`. The cache does not keep when an object was received, so the time of an initial object that is
 * older than the handler is now. */
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
    lua_pushboolean(L, info->warm);
    lua_pushlstring(L, version.n ? version.p : "", version.n);
    lua_pushnumber(L, (lua_Number)time_us / 1e6);
    lua_pushstring(L, info->shard == SHARD_NO_EVENT ? NULL : info->shard == SHARD_LOST ? "lost" : "gained");
    lua_call(L, 9, 1);
}

/* Sets `previous` of the event on top. Returns the number of pushed objects. */
static size_t set_previous(lua_State *L, const struct handler_event *event)
{
    struct root *previous = event_previous(event);
    if (!previous) return 0;
    view_push_object(L, previous);
    lua_setfield(L, -2, "previous");
    return 1;
}

/* Pushes what the function has parameters for: the old object of an update, the object, `ev`. Old objects are
 * in no cache any more, and Lua's collector does not see the memory that their views keep. */
static void prepare(lua_State *L, void *ctx)
{
    const struct handler_call *call = ctx;
    const struct handler_event *event = call->event;
    unsigned left = call->handler->takes[event->type];
    size_t dead = 0;
    if (event->type == ON_UPDATE && left > 0) {
        view_push_object(L, event->old_object);
        left--, dead++;
    }
    if (left > 0) {
        view_push_object(L, event->object);
        left--, dead += event->type == ON_DELETE || event->type == ON_LOST;
    }
    if (left > 0) {
        push_event(L, call);
        if (event->type == ON_DELETE) dead += set_previous(L, event);
    }
    if (dead) view_note_dead(L, dead);
}

/* Logs and counts a failed function; script->failure describes the error. */
static void handler_failed(struct script_handler *h, enum script_function function, const char *event,
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
    /* better than I-11: the next event follows at once */
    failure_log_add(&h->report, h->script, function, result, about);
    buf_clear(&key);
}

static void ended(const struct handler_call *call, enum script_result result)
{
    struct script_handler *h = call->handler;
    const struct handler_event *event = call->event;
    handler_metrics_end(&h->metrics, event->type, call->begun_ns);
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) {
        quarantine_note(&h->quarantine, QUARANTINE_CALL, result);
        return;
    }
    if (!h->removed) failure_log_set_place(&h->report, h->script->L, h->functions[event->type]);
    handler_failed(h, SCRIPT_HANDLER, handler_event_names[event->type], event->object, result);
    if (quarantine_note(&h->quarantine, QUARANTINE_CALL, result)) delivery_quarantined(h);
}

/* --- calls in flight */

static void lock_key(struct handler_call *call, struct script_handler *h)
{
    call->holder = h;
    call->key = h->pending.by_key ? pending_lock(&h->pending, call->event->object) : NULL;
    TAILQ_INSERT_TAIL(&h->busy, call, busy_link);
    h->busy_count++;
    handler_metrics_busy(&h->metrics, h->busy_count);
}

static void unlock_key(struct handler_call *call)
{
    struct script_handler *h = call->holder;
    call->holder = NULL;
    if (call->key) pending_unlock(&h->pending, call->key);
    TAILQ_REMOVE(&h->busy, call, busy_link);
    h->busy_count--;
    handler_metrics_busy(&h->metrics, h->busy_count);
}

static void begin_to_wait(struct handler_call *call)
{
    struct script_handler *h = call->handler;
    /* The spare is in use now; the next call allocates one. Calls that never yield share it. */
    h->spare = NULL;
    h->refs++;
    call->copy = event_copy(call->event);
    call->event = &call->copy;
    TAILQ_INSERT_TAIL(&h->waiting, call, waiting_link);
    h->waiting_count++;
    lock_key(call, h);
}

/* Ends a call that had yielded. */
static void on_done(void *ctx, enum script_result result)
{
    struct handler_call *call = ctx;
    struct script_handler *h = call->handler, *holder = call->holder;
    TAILQ_REMOVE(&h->waiting, call, waiting_link);
    h->waiting_count--;
    ended(call, result);
    /* Unlock before the next event is chosen, which may be of the same key. */
    if (holder) unlock_key(call);
    if (holder) delivery_go_on(holder);
    event_let_go(&call->copy);
    free(call);
    handler_unref(h);
}

static void count(struct script *script, enum handler_event_type type)
{
    script->report.counters.adds += type == ON_ADD;
    script->report.counters.updates += type == ON_UPDATE;
    script->report.counters.deletes += type == ON_DELETE;
}

/* For the write log. */
static void describe(void *ctx, struct buf *caller, struct buf *trigger)
{
    const struct handler_call *call = ctx;
    buf_puts(caller, call->handler->id);
    buf_printf(trigger, "%s ", handler_event_names[call->event->type]);
    root_key(call->event->object, trigger);
}

static struct handler_call *next_call(struct script_handler *h, const struct handler_event *event)
{
    if (!h->spare) h->spare = NEW(struct handler_call);
    h->spare->handler = h;
    h->spare->event = event;
    return h->spare;
}

void handler_call_begin(struct script_handler *h, const struct handler_event *event)
{
    struct handler_call *call = next_call(h, event);
    metric_inc(&metric_handler_calls);
    count(h->script, event->type);
    call->begun_ns = handler_metrics_begin(&h->metrics, event->type, handler_event_names[event->type],
                                           event->info.received_us);
    unsigned slot = sharding_slot(h->script, h->claim, event->object);
    struct fence *leader = h->leader ? leading_fence(h->script) : NULL;
    struct fence *fence = sharding_fence(h->script, slot, leader);
    const struct task_call task_call = {.what = "a handler",
                                        .function = h->functions[event->type],
                                        .account = &h->ticks,
                                        .fence = fence,
                                        .slot = slot,
                                        .prepare = h->takes[event->type] ? prepare : NULL,
                                        .prepare_ctx = call,
                                        .done = on_done,
                                        .describe = describe,
                                        .ctx = call};
    enum script_result result = task_run(h->script, &task_call, &call->task);
    fence_unref(fence);
    if (result == SCRIPT_YIELDED)
        begin_to_wait(call);
    else
        ended(call, result);
}

/* --- all of them */

void handler_calls_cancel(struct script_handler *h)
{
    struct handler_call *call, *next;
    for (call = TAILQ_FIRST(&h->waiting); call; call = next) {
        /* A handler that removes itself is called from its own task, which finishes. */
        next = TAILQ_NEXT(call, waiting_link);
        if (call->task != h->script->tasks.current) task_cancel(call->task);
    }
}

void handler_calls_move(struct script_handler *from, struct script_handler *to)
{
    struct handler_call *call;
    while ((call = TAILQ_FIRST(&from->busy))) {
        unlock_key(call);
        lock_key(call, to);
    }
}

void handler_calls_disown(struct script_handler *h)
{
    struct handler_call *call, *next;
    for (call = TAILQ_FIRST(&h->busy); call; call = next) {
        next = TAILQ_NEXT(call, busy_link);
        if (call->handler != h) unlock_key(call);
    }
}

/* --- Calls the filter functions of scripts */

struct filter_call {
    const struct script_handler *handler;
    struct root *object;
    bool passes;
};

static void call_filter(lua_State *L, void *ctx)
{
    struct filter_call *q = ctx;
    script_push_function(L, q->handler->filter);
    view_push_object(L, q->object);
    lua_call(L, 1, 1);
    q->passes = lua_toboolean(L, -1);
}

bool handler_filter_passes(void *ctx, struct root *object)
{
    struct script_handler *h = ctx;
    struct filter_call q = {h, object, false};
    if (h->removed || h->quarantine.active) return false;
    /* The filter function may remove the handler. */
    h->refs++;
    h->script->turn.account = &h->ticks;
    enum script_result result = script_call_filter(h->script, "a filter", h->id, call_filter, &q);
    if (result != SCRIPT_OK) handler_failed(h, SCRIPT_FILTER, "filter", object, result);
    if (quarantine_note(&h->quarantine, QUARANTINE_FILTER, result)) delivery_quarantined(h);
    handler_unref(h);
    return result == SCRIPT_OK && q.passes;
}
