/* Handlers, queues, timers, leadership and state go from one generation to the next; see handover.h. */
#include "script/generation/handover.h"

#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "informer/shared/claim_index.h"
#include "script/caches/transform.h"
#include "script/generation/script.h"
#include "script/generation/state_copy.h"
#include "script/generation/state_keep.h"
#include "script/handlers/delivery.h"
#include "script/handlers/handler.h"
#include "script/handlers/initial_sync.h"
#include "script/handlers/leading.h"
#include "script/inventory/metrics.h"
#include "script/server/sink.h"
#include "script/vm/budget.h"
#include "script/vm/state.h"
#include "script/vm/turns.h"
#include "script/work/script_queue.h"
#include "script/work/script_timer.h"
#include "script/work/stop_functions.h"
#include "script/work/webhook_paths.h"

/* Time for indexes and for state in one turn of the loop; objects between two looks at the clock. */
enum { BUILD_NS = 4000000, COPY_NS = 8000000, BUILD_STEP = 50 };

/* --- handlers */

/* Finds the handler with the id. Both lists are in order of registration, so a search that continues where
 * the last one ended usually takes one step. */
static struct script_handler *find(const struct script *script, const char *id, struct script_handler **at)
{
    struct script_handler *h = *at;
    for (size_t left = script->own.handlers->count; left > 0; left--) {
        h = h ? TAILQ_NEXT(h, link) : NULL;
        if (!h) h = TAILQ_FIRST(&script->own.handlers->list);
        if (strcmp(h->id, id) == 0) return *at = h;
    }
    return NULL;
}

static bool is_same(const struct script_handler *a, const struct script_handler *b)
{
    return a->detail && b->detail && strcmp(a->detail, b->detail) == 0;
}

/* Returns whether the new handler may go on where the old one is: the old one was notified of what the new
 * one would have been. */
static bool may_go_on(const struct script_handler *before, const struct script_handler *h)
{
    enum script_replay replay = h->script->load.replay;
    /* Leader handlers saw only the events of a term: in another term they would miss the rest. */
    if (replay == REPLAY_ALL || !before->attached || before->leader != h->leader) return false;
    if (h->leader && !leading_keeps_term(before->script, h->script)) return false;
    /* A quarantined handler missed events. */
    if (before->quarantine.active || !claims_share(before->claim, h->claim)) return false;
    return replay == REPLAY_NONE || is_same(before, h);
}

static void go_on(struct script_handler *before, struct script_handler *h)
{
    const struct event_handler callbacks = delivery_callbacks(h);
    h->attached = before->attached;
    /* Taken from `before` first: a handler must not be attached twice, and removing the old one must not
     * detach it. */
    before->attached = NULL;
    claim_move_handler(h->attached, h->claim, &callbacks);
    delivery_handover(before, h);
}

/* Stops delivery; calls in flight go on. */
static void detach(struct script_handler *h)
{
    if (h->attached) claim_remove_handler(h->attached);
    h->attached = NULL;
}

/* Replaces a handler by one that starts over, with the initial delivery or from now on. Its events wait for
 * calls of the old one, and it gets the pending deletes, which no cache can deliver. */
static void replace(struct script_handler *before, struct script_handler *h)
{
    detach(before);
    delivery_handover_deletes(before, h);
}

static void end_handlers(struct script *from, struct handover *done)
{
    struct script_handler *h;
    TAILQ_FOREACH (h, &from->own.handlers->list, link) {
        done->removed += h->attached != NULL;
        done->dropped_events += delivery_backlog(h);
        detach(h);
        delivery_forget(h);
    }
}

/* Returns whether the handler is attached right away; else it gets the initial delivery when its leadership
 * begins. */
static bool is_notified_at_once(const struct script *from, const struct script_handler *h)
{
    return !h->leader || (script_leads(from) && leading_keeps_term(from, h->script));
}

static void hand_over_handler(struct script *from, struct script_handler *h, struct script_handler **at,
                              struct handover *done)
{
    struct script_handler *before = find(from, h->id, at);
    if (before && may_go_on(before, h)) {
        go_on(before, h);
        done->kept++;
        return;
    }
    /* Handlers of `from` that still wait for its informers have received nothing. */
    h->from_now_on =
        h->script->load.replay == REPLAY_NONE && initial_sync_reached(from) && is_notified_at_once(from, h);
    if (before) replace(before, h);
    done->added++;
}

/* Returns the first handler registered after `number`; NULL: none. */
static struct script_handler *handler_after(const struct script *script, unsigned long long number)
{
    struct script_handler *h;
    TAILQ_FOREACH (h, &script->own.handlers->list, link)
        if (h->number > number) break;
    return h;
}

/* Hands over all handlers. A filter function that runs on the way may remove any of them, even the current
 * one: the search goes on by its number then. */
static void handover_handlers(struct script *from, struct script *to, struct handover *done)
{
    struct script_handler *at = NULL, *next;
    for (struct script_handler *h = TAILQ_FIRST(&to->own.handlers->list); h; h = next) {
        h->refs++;
        hand_over_handler(from, h, &at, done);
        next = h->removed ? handler_after(to, h->number) : TAILQ_NEXT(h, link);
        handler_unref(h);
    }
    end_handlers(from, done);
}

/* Resets the option of k8s.on_reload: a handler that is attached again later, after quarantine or a new term,
 * gets the initial delivery like any other. */
static void end_from_now_on(struct script *script)
{
    struct script_handler *h;
    TAILQ_FOREACH (h, &script->own.handlers->list, link) h->from_now_on = false;
}

/* --- all of it */

bool script_handover(struct script *from, struct script *to, struct handover *done, struct err *err)
{
    must(from->phase == SCRIPT_RUNNING && to->phase == SCRIPT_LOADED);
    must(from->call.depth == 0 && to->call.depth == 0);
    *done = (struct handover){0};
    /* All steps that can fail come first: below them nothing can be undone. */
    if (!transforms_are_still(from, to, err) || !metrics_fit(to, err) || !webhooks_fit(to, err) ||
        !state_copy_finish(from, to, err) || !leading_handover(from, to, err))
        return false;
    /* Both phases change before the handlers: delivery asks them whether events may go in. */
    metrics_handover(from, to);
    transforms_handover(to);
    from->phase = SCRIPT_DRAINING;
    to->phase = SCRIPT_RUNNING;
    state_keep_handover(from, to);
    handover_handlers(from, to, done);
    done->dropped_keys = queues_handover(from, to);
    done->cancelled_timers = script_timers_handover(from, to);
    webhooks_handover(from, to);
    sinks_handover(to);
    script_add_counters(to, from);
    /* Last, as its stop and start functions must find handlers, queues and timers where they belong. Handlers
     * of leaders are attached after the term is known. */
    leading_begin_after(from, to);
    handlers_attach(to);
    end_from_now_on(to);
    turns_schedule(to);
    return true;
}

void script_drain(struct script *script, struct handover *done)
{
    must(script->phase == SCRIPT_RUNNING && script->call.depth == 0);
    *done = (struct handover){0};
    stop_functions_removed(script);
    script->phase = SCRIPT_DRAINING;
    end_handlers(script, done);
    done->dropped_keys = queues_end(script);
    script_timers_clear(script);
    webhooks_leave(script);
    webhooks_refuse_waiting(script);
    leading_end(script);
}

bool script_build_indexes(struct script *script)
{
    int64_t end_ns = clock_measure_ns() + BUILD_NS;
    bool whole = false;
    while (!whole && clock_measure_ns() < end_ns) {
        whole = true;
        for (size_t i = 0; i < script->informers.count; i++)
            if (!claim_build_indexes(script->informers.claims[i], BUILD_STEP)) whole = false;
    }
    return whole;
}

bool script_copy_state(struct script *from, struct script *to)
{
    stop_functions_reload(from, script_generation(to));
    return state_copy_continue(from, to, clock_thread_ns() + COPY_NS);
}

void script_drop_state(struct script *to)
{
    state_copy_drop(to);
}

static bool is_shared(const struct script *from, const struct informer_claim *claim)
{
    for (size_t i = 0; i < from->informers.count; i++)
        if (claims_share(from->informers.claims[i], claim)) return true;
    return false;
}

bool script_claim_may_lag(const struct script *to, const struct informer_claim *claim)
{
    enum { OTHERS_US = 5000000 };
    return !claim_is_of_home(claim) &&
           clock_wall_us(loop_clock(to->host->loop)) - claim_since_us(claim) >= OTHERS_US;
}

size_t script_lagging_claims(const struct script *from, const struct script *to,
                             struct informer_claim **claim)
{
    size_t lagging = 0;
    for (size_t i = 0; i < to->informers.count; i++) {
        if (claim_is_suspended(to->informers.claims[i]) || claim_has_synced(to->informers.claims[i]))
            continue;
        if (is_shared(from, to->informers.claims[i]) || script_claim_may_lag(to, to->informers.claims[i]))
            continue;
        lagging++;
        if (claim) *claim = to->informers.claims[i];
    }
    return lagging;
}
