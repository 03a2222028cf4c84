/* Start, stop and failures of a reflector; see reflector.h. */
#include "informer/reflect/reflector.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/must.h"
#include "informer/reflect/reflector_internal.h"
#include "kube/api/client.h"
#include "kube/kinds/resource.h"

enum { HELD_MS = 2000 };       /* longer than the first delay */
enum { WAKE_SPREAD_MS = 500 }; /* of retries, when the server is reachable again */
enum {
    HEALTHY_MS = 120000,         /* watches must have worked for this long before delays start over */
    RETRY_AFTER_MAX_MS = 300000, /* upper bound for a server's Retry-After, so that a mistaken header cannot
                                    silence a reflector */
    QUIET_MS = 10000,            /* time between two log lines about the same interruption */
};

/* --- failures */

/* Resuming has no delay, so a connection that keeps breaking would fill the log: the same error within
 * QUIET_MS is not logged again. */
static bool is_news(struct reflector *r, const struct err *err)
{
    int64_t now_ms = clock_now_ms(r->options.clock);
    uint64_t cause = hash_str(str_of(err->text));
    if (cause == r->interruption && now_ms < r->interruption_quiet_ms) return false;
    r->interruption = cause;
    r->interruption_quiet_ms = now_ms + QUIET_MS;
    return true;
}

void reflector_interrupted(struct reflector *r, const struct err *err)
{
    reflector_set_error(r, err);
    if (is_news(r, err))
        log_warn("Watch failed, resuming", F("reflector", r->name), F("err", err->text),
                 F("resourceVersion", r->status.resource_version));
    reflector_notify(r);
}

/* Resets the delay only if watches worked for two minutes. client-go resets it once two minutes have passed,
 * whatever happened in them (R-3, better). */
static void start_over_if_healthy(struct reflector *r)
{
    if (r->alive_since_ms >= 0 && r->alive_until_ms - r->alive_since_ms >= HEALTHY_MS)
        backoff_reset(&r->backoff);
    r->alive_since_ms = r->alive_until_ms = -1;
}

/* Returns the longer of the own delay and the server's Retry-After (H-3). The own delay is drawn in any case,
 * so that it grows with each failure. */
static int64_t choose_delay(struct reflector *r, const struct err *err)
{
    int64_t delay_ms = backoff_next_ms(&r->backoff, &r->jitter), server_ms = err->retry_after_ms;
    if (server_ms > RETRY_AFTER_MAX_MS) server_ms = RETRY_AFTER_MAX_MS;
    return delay_ms > server_ms ? delay_ms : server_ms;
}

/* Logs each failed cycle: delays grow, so lines get rare by themselves. An expired version is normal
 * operation and not a warning. */
static void log_failure(const struct reflector *r, const struct err *err, int64_t delay_ms)
{
    if (kube_err_is_expired(err))
        log_info("Resource version expired, relisting", F("reflector", r->name), F("err", err->text),
                 FI("retryInMs", delay_ms));
    else if (err->unreachable) /* logged once for all, by kube/api/reachability.c */
        log_v(2, "List or watch failed, retrying", F("reflector", r->name), F("err", err->text),
              FI("retryInMs", delay_ms));
    else
        log_warn("List or watch failed, retrying", F("reflector", r->name),
                 F("reason", err_code_name(err->code)), F("err", err->text), FI("retryInMs", delay_ms));
}

static void log_held(struct reflector *r, bool unreachable)
{
    timer_cancel(&r->held);
    r->held_err.unreachable = unreachable;
    log_failure(r, &r->held_err, r->held_delay_ms);
    r->failure_logged |= !unreachable;
}

static void on_held(struct timer *timer)
{
    log_held(container_of(timer, struct reflector, held), false);
}

/* Logs a failure. A server that ends cuts requests before it refuses connections: then the next try tells
 * that it is unreachable, which is logged for all requests together. */
static void note_failure(struct reflector *r, const struct err *err, int64_t delay_ms)
{
    if (timer_running(&r->held)) log_held(r, err->unreachable);
    if (err->code == ERR_CLOSED && r->failing_since_ms < 0) {
        r->held_err = *err;
        r->held_delay_ms = delay_ms;
        timer_start(&r->held, r->options.clock, HELD_MS);
        return;
    }
    log_failure(r, err, delay_ms);
    r->failure_logged |= !err->unreachable && !kube_err_is_expired(err);
}

void reflector_failed(struct reflector *r, const struct err *err, enum reflector_next next)
{
    /* Before the delay is chosen: a long healthy time makes this the first failure again. */
    start_over_if_healthy(r);
    int64_t delay_ms = choose_delay(r, err);
    reflector_set_error(r, err);
    note_failure(r, err, delay_ms);
    r->unreachable = err->unreachable;
    if (r->failing_since_ms < 0) r->failing_since_ms = clock_now_ms(r->options.clock);
    /* Resyncs run only while a watch does: without one they would repeat a state that may be old. */
    r->after_delay = next;
    timer_cancel(&r->resync);
    timer_start(&r->delay, r->options.clock, delay_ms);
    reflector_enter(r, REFLECTOR_BACKING_OFF);
}

void reflector_recovered(struct reflector *r)
{
    if (timer_running(&r->held)) log_held(r, false);
    if (r->failing_since_ms < 0) return;
    int64_t after_ms = clock_now_ms(r->options.clock) - r->failing_since_ms;
    r->failing_since_ms = -1;
    if (r->failure_logged)
        log_info("Recovered", F("reflector", r->name), FI("afterMs", after_ms));
    else
        log_v(2, "Recovered", F("reflector", r->name), FI("afterMs", after_ms));
    r->failure_logged = false;
}

void reflector_start_cycle(struct reflector *r)
{
    /* The reason of a fallback belongs to one cycle; reflector_may_watch_list sets it again if it still
     * holds. */
    r->fallback.len = 0;
    if (reflector_may_watch_list(r))
        reflector_start_watch_list(r);
    else
        reflector_start_list(r, false);
}

void reflector_relist(struct reflector *r)
{
    if (r->status.state == REFLECTOR_BACKING_OFF) {
        r->after_delay = NEXT_CYCLE;
        return;
    }
    timer_cancel(&r->delay);
    timer_cancel(&r->deadline);
    if (r->call) r->options.source->ops->cancel(r->call);
    r->call = NULL;
    reflector_count(r, &r->status.counters.relists, 1);
    reflector_start_cycle(r);
}

void reflector_relist_newest(struct reflector *r)
{
    r->version_unavailable = true;
    reflector_relist(r);
}

bool reflector_rewatch(struct reflector *r)
{
    if (r->status.state != REFLECTOR_WATCHING || !r->call || r->watch.unordered || !r->version.len)
        return false;
    r->options.source->ops->cancel(r->call);
    r->call = NULL;
    reflector_start_watch(r);
    return true;
}

bool reflector_admits(const struct reflector *r, struct str ns)
{
    return !r->options.followed || followed_admits(r->options.followed, ns);
}

/* A namespace that joined, or slots that were gained, may be ahead of the watch. */
const char *reflector_newest_version(struct reflector *r)
{
    const char *listed = r->options.followed ? followed_version(r->options.followed)
                         : r->options.gains  ? gains_version(r->options.gains)
                                             : "";
    return version_is_newer(str_of(listed), buf_slice(&r->version)) ? listed : buf_text(&r->version);
}

static void on_delay(struct timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, delay);
    /* The timer of delays is free while a watch is open, so it also times the proof that the watch works. */
    if (r->after_delay == NEXT_PROOF) {
        reflector_recovered(r);
        return;
    }
    if (r->after_delay == NEXT_WATCH) {
        reflector_start_watch(r);
        return;
    }
    reflector_count(r, &r->status.counters.relists, 1);
    reflector_start_cycle(r);
}

/* The server responds again: the next try need not wait. Spread, as all that waited does the same. */
static void on_reachable(void *ctx)
{
    struct reflector *r = ctx;
    /* The cut was the beginning of the outage that ends here, though another request noticed it. */
    if (timer_running(&r->held)) log_held(r, true);
    if (!r->unreachable || r->status.state != REFLECTOR_BACKING_OFF) return;
    timer_cancel(&r->delay);
    timer_start(&r->delay, r->options.clock, jitter_between(&r->jitter, 0, WAKE_SPREAD_MS));
}

/* --- start and stop */

struct reflector *reflector_new(const struct reflector_options *options)
{
    struct reflector *r = NEW(struct reflector);
    r->options = *options;
    r->name = xstrdup(options->name);
    /* The memory of watch-lists is per resource, for all namespaces and selectors together. */
    r->resource = xstrdup(options->resource ? options->resource : options->name);
    r->jitter.state = options->seed;
    backoff_reset(&r->backoff);
    r->delay.fn = on_delay;
    r->held.fn = on_held;
    r->deadline.fn = watch_list_deadline;
    r->resync.fn = reflector_on_resync;
    r->alive_since_ms = r->alive_until_ms = r->failing_since_ms = -1;
    pthread_mutex_init(&r->lock, NULL);
    r->status.since_us = clock_wall_us(options->clock);
    err_clear(&r->status.last_error);
    /* Asks for the newest state: another replica may have seen it. */
    r->version_unavailable = options->listed || options->gains;
    if (options->source->ops->on_reachable)
        options->source->ops->on_reachable(options->source, on_reachable, r);
    return r;
}

void reflector_start(struct reflector *reflector)
{
    must(reflector->status.state == REFLECTOR_IDLE);
    if (reflector->options.stored.version)
        reflector_start_stored(reflector);
    else
        reflector_start_cycle(reflector);
}

/* Decision table, "any | stop": ends without an error, and cancels its request. */
void reflector_stop(struct reflector *r)
{
    r->unreachable = false; /* nothing starts it again */
    timer_cancel(&r->delay);
    timer_cancel(&r->held);
    timer_cancel(&r->deadline);
    timer_cancel(&r->resync);
    /* Before the source is freed: after cancel no callback comes. */
    if (r->call) r->options.source->ops->cancel(r->call);
    r->call = NULL;
}

void reflector_free(struct reflector *r)
{
    if (!r) return;
    reflector_stop(r);
    list_progress_clear(&r->list);
    stored_list_clear(&r->options.stored);
    refusals_clear(&r->refusals);
    r->options.source->ops->free(r->options.source);
    pthread_mutex_destroy(&r->lock);
    buf_clear(&r->version);
    buf_clear(&r->fallback);
    free(r->resource);
    free(r->name);
    free(r);
}
