/* Watch of a reflector: queues events, keeps the last version, and decides what its end means; see
 * reflector_internal.h. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "informer/reflect/reflector_internal.h"
#include "kube/api/client.h"
#include "object/value/value.h"

/* Half of the range, so that subtracting it from the present does not overflow. */
#define LONG_AGO_MS (INT64_MIN / 2)

enum {
    TIMEOUT_MIN_S = 300,  /* in [300,600) */
    VERY_SHORT_MS = 1000, /* */
    RESYNC_CHECK_MS = 10000,
};

static void on_opened(void *ctx);
static void on_skipped(void *ctx);
static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us);
static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark);
static void on_refused(void *ctx, const struct lw_refusal *refusal);
static void on_done(void *ctx, const struct err *err);

void reflector_open_watch(struct reflector *r, bool watch_list)
{
    static const struct lw_sink sink = {.opened = on_opened,
                                        .skipped = on_skipped,
                                        .event = on_event,
                                        .bookmark = on_bookmark,
                                        .refused = on_refused,
                                        .done = on_done};
    /* The server no longer has this version: the watch-list starts from the newest state. */
    const char *version = !watch_list              ? buf_text(&r->version)
                          : r->version_unavailable ? ""
                                                   : reflector_newest_version(r);
    r->watch = (struct watch_progress){
        .started_ms = clock_now_ms(r->options.clock),
        /* Such a watch begins with the existing objects, in no order of versions: resuming from one of them
         * would lose the others. */
        .unordered = !watch_list && (!*version || strcmp(version, "0") == 0),
        .collecting = watch_list,
    };
    r->call =
        lw_start(r->options.source,
                 &(struct lw_options){
                     .verb = LW_WATCH,
                     .resource_version = version,
                     .resource_version_match = watch_list ? "NotOlderThan" : "",
                     .continue_token = "",
                     .allow_watch_bookmarks = true,
                     .send_initial_events = watch_list,
                     .timeout_seconds = (int)jitter_between(&r->jitter, TIMEOUT_MIN_S, 2 * TIMEOUT_MIN_S),
                 },
                 &sink, r);
}

/* Schedules the next check. Handlers set their periods on the engine thread at any time, so the period is
 * read again every RESYNC_CHECK_MS at least. */
static void plan_resync(struct reflector *r, int64_t now_ms)
{
    int64_t period_ms = delta_fifo_resync_ms(r->options.fifo), left_ms = r->resynced_ms + period_ms - now_ms;
    timer_start(&r->resync, r->options.clock,
                period_ms > 0 && left_ms < RESYNC_CHECK_MS ? left_ms : RESYNC_CHECK_MS);
}

void reflector_on_resync(struct timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, resync);
    int64_t period_ms = delta_fifo_resync_ms(r->options.fifo), now_ms = clock_now_ms(r->options.clock);
    /* While no handler wants resyncs the last one is forgotten, so that the first handler that does gets one
     * at the next check. */
    if (period_ms == 0) r->resynced_ms = LONG_AGO_MS;
    if (period_ms > 0 && now_ms - r->resynced_ms >= period_ms) {
        delta_fifo_resync(r->options.fifo, now_ms);
        r->resynced_ms = now_ms;
    }
    plan_resync(r, now_ms);
}

void reflector_watch_runs(struct reflector *r)
{
    int64_t now_ms = clock_now_ms(r->options.clock);
    if (r->alive_since_ms < 0) r->alive_since_ms = r->alive_until_ms = now_ms;
    /* A watch that is resumed continues the period of the one before. */
    if (!timer_running(&r->resync)) {
        r->resynced_ms = now_ms;
        plan_resync(r, now_ms);
    }
    reflector_enter(r, REFLECTOR_WATCHING);
}

/* Decides before the request is sent that the watch counts as running: opening one may take long, and the
 * cache is complete meanwhile. */
void reflector_start_watch(struct reflector *r)
{
    reflector_count(r, &r->status.counters.watches, 1);
    reflector_watch_runs(r);
    reflector_open_watch(r, false);
}

/* A server accepts a watch from a version that it does not have, and reports that in the first event. So a
 * watch counts as working once it delivered another event, or lasted a while. */
static void await_proof(struct reflector *r)
{
    if (r->failing_since_ms < 0) return;
    r->after_delay = NEXT_PROOF;
    timer_start(&r->delay, r->options.clock, VERY_SHORT_MS);
}

static void on_opened(void *ctx)
{
    struct reflector *r = ctx;
    r->watch.opened = true;
    reflector_opened(r);
    if (!r->watch.collecting) await_proof(r);
}

static void on_skipped(void *ctx)
{
    reflector_skipped(ctx);
}

/* Queues the delta. The version moves with every accepted event, except during the first,
 * unordered ones and for objects without a version: a watch from "" would not report what was deleted
 * meanwhile. */
static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    static const enum delta_type deltas[] = {
        [LW_ADDED] = DELTA_ADDED, [LW_MODIFIED] = DELTA_UPDATED, [LW_DELETED] = DELTA_DELETED};
    struct reflector *r = ctx;
    struct text text;
    if (!reflector_wants(r, object)) {
        root_unref(object);
        reflector_skipped(r);
        return;
    }
    if (r->watch.collecting) {
        watch_list_event(r, type, object);
        return;
    }
    /* The existing objects come first and as ADDED; from any other event on versions are in order. */
    if (type != LW_ADDED) r->watch.unordered = false;
    struct str version = root_resource_version(object, &text);
    if (!r->watch.unordered && version.n) reflector_saw_version(r, version);
    reflector_saw_event(r, true);
    reflector_accepted(r, object);
    if (r->options.followed && followed_takes(r->options.followed, type, object)) return;
    if (r->options.gains && gains_take(r->options.gains, type, object)) return;
    delta_fifo_add(r->options.fifo, deltas[type], object, received_us);
}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark)
{
    struct reflector *r = ctx;
    if (r->watch.collecting) {
        watch_list_bookmark(r, bookmark);
        return;
    }
    r->watch.unordered = false;
    reflector_saw_version(r, bookmark->resource_version);
    reflector_saw_event(r, false);
    delta_fifo_bookmark(r->options.fifo, buf_text(&r->version));
}

/* A refused delete would leave its object in the cache, so a list has to find that it is gone. */
static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    struct reflector *r = ctx;
    if (refusal->name.n && !reflector_admits(r, refusal->ns)) {
        reflector_skipped(r);
        return;
    }
    reflector_refused(r, r->watch.collecting ? &r->list.refusals : &r->refusals, refusal);
    if (r->watch.collecting) {
        watch_list_refused(r, refusal);
        return;
    }
    if (!refusal->deleted || refusal->keyless) return;
    struct err cause;
    err_set(&cause, ERR_LIMIT, "a delete was refused, relisting %s to find deleted objects", r->name);
    /* Cancelled first: the failure below schedules the next request. */
    r->options.source->ops->cancel(r->call);
    r->call = NULL;
    reflector_failed(r, &cause, NEXT_CYCLE);
}

bool reflector_is_end_of_stream(const struct err *err)
{
    return !err || err->code == ERR_CLOSED || err->code == ERR_TIMEOUT;
}

bool reflector_was_very_short(const struct reflector *r)
{
    return r->watch.events == 0 && clock_now_ms(r->options.clock) - r->watch.started_ms < VERY_SHORT_MS;
}

/* Decision table, "watch stream | very short": the next watch would most likely end like this one, so
 * the state is listed again after a delay. */
static void end_very_short(struct reflector *r, const struct err *err)
{
    struct err cause;
    reflector_count(r, &r->status.counters.short_watches, 1);
    err_set(&cause, ERR_CLOSED,
            "failed to watch %s: very short watch: it ended within a second without an event%s%s", r->name,
            err ? ": " : "", err ? err->text : "");
    reflector_failed(r, &cause, NEXT_CYCLE);
}

/* Decision table, "watch stream | clean end, >= 1 event or >= 1 s": watches again immediately, from the
 * last version. */
static void resume(struct reflector *r, const struct err *err)
{
    if (err)
        reflector_interrupted(r, err);
    else
        /* A clean end proves that the watch worked until now, as an event does. After a broken
         * connection only events prove it. */
        r->alive_until_ms = clock_now_ms(r->options.clock);
    log_v(4, "Watch ended, resuming", F("reflector", r->name), FI("events", r->watch.events));
    reflector_start_watch(r);
}

static void count_ended(struct reflector *r)
{
    int64_t lasted_ms = clock_now_ms(r->options.clock) - r->watch.started_ms;
    reflector_count(r, &r->status.counters.watches_done, 1);
    reflector_count(r, &r->status.counters.watch_ms, (uint64_t)lasted_ms);
}

/* Decision table, "watch stream | ERROR InternalError, window enabled and open". */
static bool may_try_at_once(struct reflector *r, const struct err *err)
{
    return kube_err_is_internal(err) &&
           error_window_allows(&r->internal_errors, clock_now_ms(r->options.clock),
                               r->options.tuning.internal_error_window_ms);
}

static void on_done(void *ctx, const struct err *err)
{
    struct reflector *r = ctx;
    r->call = NULL;
    if (r->watch.collecting) {
        watch_list_ended(r, err);
        return;
    }
    count_ended(r);
    /* A connection that breaks before the response is an error of opening, not an empty watch (H-6), although
     * the error code is the same. */
    bool streamed = !err || r->watch.opened || r->watch.events > 0;
    if (streamed && reflector_is_end_of_stream(err)) {
        if (reflector_was_very_short(r))
            end_very_short(r, err);
        else
            resume(r, err);
        return;
    }
    if (streamed && may_try_at_once(r, err)) {
        resume(r, err);
        return;
    }
    struct err cause = *err;
    err_wrap(&cause, "failed to watch %s", r->name);
    /* Decision table, "watch open | 429, connection refused" and "watch stream | ERROR 429": d,
     * watch again. "watch open | other error", "watch stream | ERROR Expired, decode error, other error": d,
     * new cycle with the last version. */
    bool busy = kube_err_is_too_many_requests(err) || kube_err_is_connection_refused(err);
    reflector_failed(r, &cause, busy ? NEXT_WATCH : NEXT_CYCLE);
}
