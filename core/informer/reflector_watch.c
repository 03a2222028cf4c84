/* The watch of a reflector: events into the queue, the last version, and what its end means; see
 * reflector_internal.h. */
#include <string.h>

#include "base/log.h"
#include "base/metrics.h"
#include "informer/reflector_internal.h"
#include "kube/client.h"
#include "object/value.h"

enum {
    TIMEOUT_MIN_S = 300, /* in [300,600) */
    VERY_SHORT_MS = 1000 /* */
};

static void on_opened(void *ctx);
static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us);
static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark);
static void on_refused(void *ctx, const struct lw_refusal *refusal);
static void on_done(void *ctx, const struct err *err);

/* */
void reflector_start_watch(struct reflector *r)
{
    static const struct lw_sink sink = {.opened = on_opened,
                                        .event = on_event,
                                        .bookmark = on_bookmark,
                                        .refused = on_refused,
                                        .done = on_done};
    const char *version = buf_text(&r->version);
    int64_t now_ms = clock_now_ms(r->options.clock);
    r->watch = (struct watch_progress){
        .started_ms = now_ms,
        .unordered = !*version || strcmp(version, "0") == 0,
    };
    if (r->alive_since_ms < 0) r->alive_since_ms = r->alive_until_ms = now_ms;
    metric_inc(METRIC_WATCHES);
    reflector_count(r, &r->status.counters.watches, 1);
    reflector_enter(r, REFLECTOR_WATCHING);
    r->call =
        lw_start(r->options.source,
                 &(struct lw_options){
                     .verb = LW_WATCH,
                     .resource_version = version,
                     .resource_version_match = "",
                     .continue_token = "",
                     .allow_watch_bookmarks = true,
                     .timeout_seconds = (int)jitter_between(&r->jitter, TIMEOUT_MIN_S, 2 * TIMEOUT_MIN_S),
                 },
                 &sink, r);
}

static void on_opened(void *ctx)
{
    reflector_opened(ctx);
}

/* R-20; the version moves with every accepted event but the first, unordered ones, and those
 * that have none: a watch from "" would not tell what was deleted meanwhile. */
static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    static const enum delta_type deltas[] = {
        [LW_ADDED] = DELTA_ADDED, [LW_MODIFIED] = DELTA_UPDATED, [LW_DELETED] = DELTA_DELETED};
    struct reflector *r = ctx;
    struct text text;
    if (type != LW_ADDED) r->watch.unordered = false;
    struct str version = root_resource_version(object, &text);
    if (!r->watch.unordered && version.n) reflector_saw_version(r, version);
    reflector_saw_event(r, true);
    delta_fifo_add(r->options.fifo, deltas[type], object, received_us);
}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark)
{
    struct reflector *r = ctx;
    r->watch.unordered = false;
    reflector_saw_version(r, bookmark->resource_version);
    reflector_saw_event(r, false);
    delta_fifo_bookmark(r->options.fifo, buf_text(&r->version));
}

/* A refused delete would leave its object in the cache: a list finds it gone. */
static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    struct reflector *r = ctx;
    reflector_refused(r, refusal);
    if (!refusal->deleted || refusal->keyless) return;
    struct err cause;
    err_set(&cause, ERR_LIMIT, "a delete was refused, listing %s again to find what is gone", r->name);
    r->options.source->ops->cancel(r->call);
    r->call = NULL;
    reflector_failed(r, &cause, NEXT_CYCLE);
}

/* A connection that ends, however rudely, says nothing against the version: what came is whole (H-10). */
static bool is_end_of_stream(const struct err *err)
{
    return !err || err->code == ERR_CLOSED || err->code == ERR_TIMEOUT;
}

/* Decision table, "watch stream | very short": no reason to believe that the next one would be better.
 */
static void end_very_short(struct reflector *r, const struct err *err)
{
    struct err cause;
    metric_inc(METRIC_SHORT_WATCHES);
    reflector_count(r, &r->status.counters.short_watches, 1);
    err_set(&cause, ERR_CLOSED,
            "failed to watch %s: very short watch: it ended within a second without an event%s%s", r->name,
            err ? ": " : "", err ? err->text : "");
    reflector_failed(r, &cause, NEXT_CYCLE);
}

/* Decision table, "watch stream | clean end, >= 1 event or >= 1 s": at once, from the last version. */
static void resume(struct reflector *r, const struct err *err)
{
    if (err)
        reflector_interrupted(r, err);
    else
        r->alive_until_ms = clock_now_ms(r->options.clock);
    log_v(4, "Watch ended, resuming", F("reflector", r->name), FI("events", r->watch.events));
    reflector_start_watch(r);
}

/* Gives how long it lasted. */
static int64_t watch_ended(struct reflector *r)
{
    int64_t lasted_ms = clock_now_ms(r->options.clock) - r->watch.started_ms;
    reflector_count(r, &r->status.counters.watches_done, 1);
    reflector_count(r, &r->status.counters.watch_ms, (uint64_t)lasted_ms);
    return lasted_ms;
}

static void on_done(void *ctx, const struct err *err)
{
    struct reflector *r = ctx;
    r->call = NULL;
    int64_t lasted_ms = watch_ended(r);
    if (is_end_of_stream(err)) {
        bool short_ = lasted_ms < VERY_SHORT_MS;
        if (short_ && r->watch.events == 0)
            end_very_short(r, err);
        else
            resume(r, err);
        return;
    }
    struct err cause = *err;
    err_wrap(&cause, "failed to watch %s", r->name);
    /* Decision table, "watch open | 429, connection refused" and "watch stream | ERROR 429": d,
     * watch again. "watch open | other error", "watch stream | ERROR Expired, decode error, other error": d,
     * new cycle with the last version; InternalError is one of these, as its window is off by default.
     */
    bool busy = kube_err_is_too_many_requests(err) || kube_err_is_connection_refused(err);
    reflector_failed(r, &cause, busy ? NEXT_WATCH : NEXT_CYCLE);
}
