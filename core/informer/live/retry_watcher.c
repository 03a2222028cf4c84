/* Consecutive streams, each from the last version seen; see retry_watcher.h. */
#include "informer/live/retry_watcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/time/backoff.h"
#include "kube/api/client.h"
#include "object/value/value.h"

enum {
    RESTART_MS = 1000,           /* shortest time between the starts of two streams */
    RETRY_AFTER_MAX_MS = 300000, /* upper bound for a server's Retry-After */
    TIMEOUT_MIN_S = 300, /* in [300,600) as a reflector's, so that a dead stream is found (F-14) */
    QUIET_MS = 10000,    /* shortest time between two log lines about failures */
};

struct retry_watcher {
    struct retry_watcher_options options;
    char *name;
    struct buf version; /* of the last event or bookmark */
    struct jitter jitter;
    struct lw_call *call; /* NULL between two streams and after the end */
    struct timer delay;
    int64_t started_ms; /* of the last stream */
    int64_t quiet_until_ms;
    bool opened;           /* the stream's response began with status 200 */
    bool paused, deferred; /* deferred: a stream would have begun, but for the pause */
    bool over;
};

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us);
static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark);
static void on_refused(void *ctx, const struct lw_refusal *refusal);
static void on_done(void *ctx, const struct err *err);
static void on_opened(void *ctx);

static void begin_stream(struct retry_watcher *w)
{
    static const struct lw_sink sink = {.event = on_event,
                                        .bookmark = on_bookmark,
                                        .refused = on_refused,
                                        .done = on_done,
                                        .opened = on_opened};
    const struct lw_options options = {
        .verb = LW_WATCH,
        .resource_version = buf_text(&w->version),
        .resource_version_match = "",
        .continue_token = "",
        .allow_watch_bookmarks = true,
        .timeout_seconds = (int)jitter_between(&w->jitter, TIMEOUT_MIN_S, 2 * TIMEOUT_MIN_S),
        /* A pause on a shared HTTP/2 connection would hold up the watches of all informers. */
        .own_connection = true,
    };
    w->deferred = w->paused;
    if (w->deferred) return;
    w->opened = false;
    w->started_ms = clock_now_ms(w->options.clock);
    w->call = lw_start(w->options.source, &options, &sink, w);
}

static void on_delay(struct timer *timer)
{
    begin_stream(container_of(timer, struct retry_watcher, delay));
}

/* Schedules the next stream: at most one begins in a second (RW-1), and none before the server's Retry-After
 * (RW-2). */
static void begin_later(struct retry_watcher *w, int64_t retry_after_ms)
{
    int64_t wait_ms = w->started_ms + RESTART_MS - clock_now_ms(w->options.clock);
    if (retry_after_ms > RETRY_AFTER_MAX_MS) retry_after_ms = RETRY_AFTER_MAX_MS;
    if (wait_ms < retry_after_ms) wait_ms = retry_after_ms;
    timer_start(&w->delay, w->options.clock, wait_ms > 0 ? wait_ms : 0);
}

static void stop(struct retry_watcher *w)
{
    timer_cancel(&w->delay);
    if (w->call) w->options.source->ops->cancel(w->call);
    w->call = NULL;
    w->over = true;
}

static void print_error(struct retry_watcher *w, const struct err *err)
{
    struct err reported = *err; /* copied, as it may belong to the call that ends here */
    stop(w);
    w->options.error(w->options.ctx, &reported);
}

/* Ends the watch: resuming would skip an event without notice (RW-3). */
static void print_internal_error(struct retry_watcher *w, const char *text)
{
    struct err err;
    err_set(&err, ERR_PARSE, "%s", text);
    err.http_status = 500;
    snprintf(err.reason, sizeof err.reason, "InternalError");
    print_error(w, &err);
}

static void saw_version(struct retry_watcher *w, struct str version)
{
    w->version.len = 0;
    buf_str(&w->version, version);
}

static void on_opened(void *ctx)
{
    struct retry_watcher *w = ctx;
    w->opened = true;
}

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    struct retry_watcher *w = ctx;
    struct text text;
    struct str version = root_resource_version(object, &text);
    if (!version.n) { /* RW-3 */
        struct buf key = {0};
        root_key(object, &key);
        buf_puts(&key, ": an event without a resourceVersion");
        root_unref(object);
        print_internal_error(w, buf_text(&key));
        buf_clear(&key);
        return;
    }
    saw_version(w, version);
    w->options.event(w->options.ctx, type, object);
}

/* Moves the version; a bookmark is not delivered (RW-3). */
static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark)
{
    saw_version(ctx, bookmark->resource_version);
}

/* Ends the watch at an event without a readable object, as its version is unknown too. */
static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    print_internal_error(ctx, refusal->err->text);
}

/* Returns whether another try cannot help (RW-2). */
static bool is_final(const struct retry_watcher *w, const struct err *err)
{
    if (err->code != ERR_HTTP) return false;
    if (w->opened) return err->http_status == 410;
    return err->http_status == 401 || err->http_status == 403;
}

static void log_failure(struct retry_watcher *w, const struct err *err)
{
    int64_t now_ms = clock_now_ms(w->options.clock);
    if (now_ms < w->quiet_until_ms) return;
    w->quiet_until_ms = now_ms + QUIET_MS;
    log_warn("Watch failed, retrying", F("watch", w->name), F("err", err->text),
             FS("resourceVersion", buf_slice(&w->version)));
}

static void on_done(void *ctx, const struct err *err)
{
    struct retry_watcher *w = ctx;
    w->call = NULL;
    if (err && is_final(w, err)) {
        print_error(w, err);
        return;
    }
    if (err) log_failure(w, err);
    begin_later(w, err ? err->retry_after_ms : -1);
}

bool retry_watcher_check_version(const char *version, struct err *err)
{
    if (*version && strcmp(version, "0") != 0) return true;
    return err_set(err, ERR_INVALID,
                   "a watch must start at the resource version of a list or an object, not at \"%s\"",
                   version);
}

struct retry_watcher *retry_watcher_new(const struct retry_watcher_options *options, struct err *err)
{
    if (!retry_watcher_check_version(options->resource_version, err)) {
        options->source->ops->free(options->source);
        return NULL;
    }
    struct retry_watcher *w = NEW(struct retry_watcher);
    w->options = *options;
    w->name = xstrdup(options->name);
    w->jitter.state = options->seed;
    w->delay.fn = on_delay;
    buf_puts(&w->version, options->resource_version);
    return w;
}

void retry_watcher_start(struct retry_watcher *w)
{
    must(!w->call && !w->over);
    begin_stream(w);
}

void retry_watcher_pause(struct retry_watcher *w, bool paused)
{
    if (w->over || w->paused == paused) return;
    w->paused = paused;
    if (w->call && w->options.source->ops->pause) w->options.source->ops->pause(w->call, paused);
    if (!paused && w->deferred) begin_stream(w);
}

void retry_watcher_free(struct retry_watcher *w)
{
    if (!w) return;
    stop(w);
    w->options.source->ops->free(w->options.source);
    buf_clear(&w->version);
    free(w->name);
    free(w);
}
