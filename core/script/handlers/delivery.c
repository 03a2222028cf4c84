/* Delivers events: calls the handler, or queues them behind calls in flight; see delivery.h. */
#include "script/handlers/delivery.h"

#include <stdlib.h>

#include "base/must.h"
#include "informer/reflect/delta_fifo.h"
#include "informer/shared/registration.h"
#include "script/caches/index_function.h"
#include "script/handlers/handler_call.h"
#include "script/handlers/leading.h"
#include "script/handlers/sharding.h"
#include "script/vm/quarantine.h"
#include "script/vm/turns.h"

/* Bound of one handler in one turn, so that a long backlog does not delay the other handlers of its
 * script. */
enum { EVENTS_PER_TURN = 100 };

static void come_back(struct script_handler *h)
{
    if (h->due) return;
    h->due = true;
    TAILQ_INSERT_TAIL(&h->script->own.handlers->due, h, due_link);
    h->script->own.handlers->due_count++;
    turns_schedule(h->script);
}

void delivery_leave_due(struct script_handler *h)
{
    if (!h->due) return;
    h->due = false;
    TAILQ_REMOVE(&h->script->own.handlers->due, h, due_link);
    h->script->own.handlers->due_count--;
}

static bool is_notified(const struct script_handler *h)
{
    if (h->removed || h->quarantine.active || h->script->phase != SCRIPT_RUNNING) return false;
    return !h->leader || script_leads(h->script);
}

/* A handler that goes on from the stored caches misses no change since, so it is attached before there are
 * any; its calls wait for the other informers of the script like those of any handler. */
bool delivery_is_held(const struct script_handler *h)
{
    return h->knows_stored && h->waits && !h->script->informers.synced;
}

/* Objects of slots that another replica has by now are its business. */
static bool is_of_others(const struct script_handler *h, const struct handler_event *event)
{
    if (event->type == ON_LOST) return false;
    return event->info.disowned ||
           !sharding_owns(h->script, sharding_slot(h->script, h->claim, event->object));
}

bool delivery_tells(struct script_handler *h, struct handler_event *event, bool is_lost)
{
    if (is_lost) return untold_leaves_loss(&h->untold, event) && h->functions[ON_LOST] != LUA_NOREF;
    /* An update without a function tells the script of nothing. */
    if (event->settled || (event->type == ON_UPDATE && h->functions[ON_UPDATE] == LUA_NOREF)) return true;
    return untold_passes(&h->untold, event);
}

/* To be asked when the event comes, and again when its turn has come: meanwhile earlier ones of its key may
 * have been dropped, and its slot may be another replica's, as a term ends by the clock. */
static bool is_told(struct script_handler *h, struct handler_event *event)
{
    return delivery_tells(h, event, is_of_others(h, event));
}

static bool is_dropped(void *ctx, struct handler_event *event)
{
    struct script_handler *h = ctx;
    bool told = is_told(h, event);
    event->settled = true;
    return !told;
}

/* Of an event that comes. What is dropped says something about earlier events of its key unless these were
 * asked for first: an add is noted when it is dropped, and one that waits before it will be, too. */
static bool is_told_now(struct script_handler *h, struct handler_event *event)
{
    if (event->type == ON_ADD && is_of_others(h, event))
        pending_drop_of(&h->pending, event->object, is_dropped, h);
    return is_told(h, event);
}

void delivery_note_pending(struct script_handler *h)
{
    handler_metrics_pending(&h->metrics, h->pending.count + h->kept.count);
}

/* --- events */

void delivery_put(struct script_handler *h, const struct handler_event *event)
{
    if (pending_put(&h->pending, event)) handler_metrics_coalesced(&h->metrics);
    delivery_note_pending(h);
}

/* The last call exceeded a limit, and so may the next one: run it in a turn of its own, so that other
 * handlers get the event before they wait for it. */
static bool is_slow(const struct script_handler *h)
{
    return h->quarantine.in_row[QUARANTINE_CALL] > 0;
}

/* Returns whether the event may be delivered now: nothing is pending before it. A later event must not
 * overtake a pending one, even of another key, unless that one only waits for its locked key. */
static bool may_begin(const struct script_handler *h, const struct handler_event *event)
{
    if (is_slow(h)) return false;
    if (!h->busy_count) return h->pending.count == 0;
    if (h->busy_count >= h->concurrency || pending_has_next(&h->pending)) return false;
    return !pending_is_locked(&h->pending, event->object);
}

/* Queues an object that has become quiet instead of calling the handler: the timer may fire for many objects,
 * whose calls would exceed the turn. */
static void on_quiet(void *ctx, const struct handler_event *event)
{
    struct script_handler *h = ctx;
    handler_metrics_debounced(&h->metrics, h->debounce->count);
    if (h->functions[event->type] == LUA_NOREF || quarantine_skips(&h->quarantine)) return;
    delivery_put(h, event);
    delivery_go_on(h);
}

static void notify(struct script_handler *h, const struct handler_event *event)
{
    struct script *script = h->script;
    if (h->functions[event->type] == LUA_NOREF) {
        if (event_is_end(event->type)) pending_note_gone(&h->pending, event->object);
        return;
    }
    if (!may_begin(h, event)) {
        delivery_put(h, event);
        delivery_go_on(h);
        return;
    }
    /* The call may remove the handler, and add others, which are attached only after it. */
    h->refs++;
    handler_call_begin(h, event);
    handler_unref(h);
    handlers_attach(script);
}

static void debounce(struct script_handler *h, const struct handler_event *event)
{
    struct handler_event joined;
    bool wanted = h->functions[event->type] != LUA_NOREF;
    enum debounced what = debounce_put(h->debounce, event, wanted, &joined);
    if (what == DEBOUNCE_PASSES) notify(h, event);
    if (what == DEBOUNCE_PASSES || (what == DEBOUNCE_NOTHING && !wanted)) return;
    handler_metrics_debounced(&h->metrics, h->debounce->count);
    if (what != DEBOUNCE_WAITS) handler_metrics_coalesced(&h->metrics);
    if (what != DEBOUNCE_JOINS_NOW) return;
    notify(h, &joined);
    event_let_go(&joined);
}

static void deliver(struct script_handler *h, const struct handler_event *event)
{
    struct handler_event own = *event;
    /* Count the event as skipped first: a quarantined handler must not look like an idle one. */
    if (quarantine_skips(&h->quarantine) || !is_notified(h)) return;
    own.settled = h->kept_is_settled;
    if (!is_told_now(h, &own)) return;
    if (h->debounce)
        debounce(h, &own);
    else
        notify(h, &own);
}

/* Checked before each event, as the call before may have removed the handler or lost the lease. */
static bool may_receive(const struct script_handler *h)
{
    return is_notified(h) && !delivery_is_held(h);
}

static bool may_go_on(const struct script_handler *h)
{
    return h->busy_count < h->concurrency && may_receive(h);
}

void delivery_go_on(struct script_handler *h)
{
    bool receives = h->kept.count > 0 && may_receive(h);
    if (receives || (may_go_on(h) && pending_has_next(&h->pending))) come_back(h);
}

/* --- changes that wait for the script's turn before any filter, as the script has used up its time: changes
 * for other scripts do not wait (I-8) */

static bool keeps(void *ctx, const struct change *change)
{
    static const enum handler_event_type types[] = {[NOTIFY_ADD] = ON_ADD, [NOTIFY_DELETE] = ON_DELETE};
    struct script_handler *h = ctx;
    bool update = change->call != NOTIFY_ADD && change->call != NOTIFY_DELETE;
    if (h->script->phase != SCRIPT_RUNNING)
        return true; /* filters of a script that ends would hold up the end */
    bool waits = h->kept.count > 0 || delivery_is_held(h) || turns_are_owed(h->script) ||
                 index_functions_rest(h->script);
    if (!waits || !is_notified(h)) return false;
    const enum handler_event_type type = update ? ON_UPDATE : types[change->call];
    const struct handler_event event = {.type = change->info.shard == SHARD_LOST ? ON_LOST : type,
                                        .old_object = change->before,
                                        .object = change->object,
                                        .info = change->info};
    if (pending_put(&h->kept, &event)) handler_metrics_coalesced(&h->metrics);
    delivery_note_pending(h);
    delivery_go_on(h);
    return true;
}

static enum notification call_of(const struct handler_event *event)
{
    if (event->type != ON_UPDATE) return event->type == ON_ADD ? NOTIFY_ADD : NOTIFY_DELETE;
    if (event->info.resync) return NOTIFY_RESYNC;
    return is_unchanged(event->old_object, event->object) ? NOTIFY_UNCHANGED : NOTIFY_UPDATE;
}

/* Calls in flight do not matter: what comes meanwhile is pending, as if it had not been kept. */
static void deliver_kept(struct script_handler *h)
{
    const struct event_handler callbacks = delivery_callbacks(h);
    struct handler_event event;
    for (int i = 0; i < EVENTS_PER_TURN && may_receive(h) && pending_take(&h->kept, &event); i++) {
        const struct change change = {call_of(&event), event.old_object, event.object, event.info};
        h->kept_is_settled = event.settled;
        registration_deliver_kept(&callbacks, &change);
        h->kept_is_settled = false;
        event_let_go(&event);
        if (turns_expired(h->script) || is_slow(h)) break;
    }
}

static void advance(struct script_handler *h)
{
    struct handler_event event;
    bool over = false, had_initial = h->kept.initial > 0;
    if (!is_notified(h)) return;
    h->refs++;
    for (int i = 0; i < EVENTS_PER_TURN && may_go_on(h) && pending_take(&h->pending, &event); i++) {
        if (is_told(h, &event)) handler_call_begin(h, &event);
        event_let_go(&event);
        if ((over = turns_expired(h->script) || is_slow(h))) break;
    }
    if (!over) deliver_kept(h);
    /* k8s.main waits for initial objects that were kept. */
    if (had_initial && h->kept.initial == 0 && h->script->host->attached)
        h->script->host->attached(h->script->host->attached_ctx);
    delivery_note_pending(h);
    delivery_go_on(h);
    handler_unref(h);
}

void deliveries_turn(struct script *script)
{
    struct script_handler *h;
    /* Counted up front: handlers that schedule themselves again belong to the next turn. */
    for (size_t left = script->own.handlers->due_count;
         left > 0 && (h = TAILQ_FIRST(&script->own.handlers->due)); left--) {
        delivery_leave_due(h);
        advance(h);
        if (script->host->turns->over) break;
    }
    if (script->own.handlers->due_count > 0) turns_schedule(script);
}

void delivery_init(struct script_handler *h)
{
    int64_t quiet_ms = h->options->debounce_ms;
    TAILQ_INIT(&h->waiting);
    TAILQ_INIT(&h->busy);
    if (quiet_ms) h->debounce = debounce_new(script_clock(h->script), quiet_ms, on_quiet, h);
}

void delivery_quarantined(struct script_handler *h)
{
    quarantine_skip(&h->quarantine, delivery_backlog(h));
    delivery_forget(h);
    untold_start_over(&h->untold); /* it is told of all objects anew when its quarantine ends */
}

void delivery_end(struct script_handler *h)
{
    delivery_leave_due(h);
    if (h->debounce) debounce_clear(h->debounce);
    pending_clear(&h->pending);
    pending_clear(&h->kept);
    untold_start_over(&h->untold);
    handler_calls_cancel(h);
    handler_calls_disown(h);
}

void delivery_free(struct script_handler *h)
{
    must(h->waiting_count == 0 && h->busy_count == 0);
    debounce_free(h->debounce);
    free(h->spare);
}

size_t delivery_backlog(const struct script_handler *h)
{
    return h->pending.count + h->kept.count + (h->debounce ? h->debounce->count : 0);
}

void delivery_forget(struct script_handler *h)
{
    delivery_leave_due(h);
    if (delivery_backlog(h) == 0) return; /* the series may already belong to the next generation */
    if (h->debounce) debounce_clear(h->debounce);
    if (h->debounce) handler_metrics_debounced(&h->metrics, 0);
    pending_clear(&h->pending);
    pending_clear(&h->kept);
    handler_metrics_pending(&h->metrics, 0);
}

bool delivery_has_initial(const struct script_handler *h)
{
    const struct handler_call *call;
    TAILQ_FOREACH (call, &h->busy, busy_link)
        if (call->event->info.initial) return true;
    return h->pending.initial > 0 || h->kept.initial > 0;
}

/* --- callbacks of the informer */

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    deliver(ctx, &(struct handler_event){.type = ON_ADD, .object = object, .info = *info});
}

static void on_update(void *ctx, struct root *old_object, struct root *new_object,
                      const struct event_info *info)
{
    deliver(ctx, &(struct handler_event){
                     .type = ON_UPDATE, .old_object = old_object, .object = new_object, .info = *info});
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    deliver(ctx, &(struct handler_event){.type = info->shard == SHARD_LOST ? ON_LOST : ON_DELETE,
                                         .old_object = info->stored,
                                         .object = last,
                                         .info = *info});
}

struct event_handler delivery_callbacks(struct script_handler *handler)
{
    return (struct event_handler){
        .on_add = on_add,
        .on_update = on_update,
        .on_delete = on_delete,
        .ctx = handler,
        .owner = handler->script,
        .passes = handler->filter == LUA_NOREF ? NULL : handler_filter_passes,
        .keeps = keeps,
        .options = handler->options,
        .from_now_on = handler->from_now_on,
        .knows_stored = handler->knows_stored,
        .since_us = handler->leader ? INT64_MAX : handler->since_us, /* a standby may wait for days */
    };
}
