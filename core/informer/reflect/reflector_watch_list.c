/* List as a stream (R-30..R-38): a watch begins with all objects, a bookmark marks the end of them, and the
 * same stream continues as the watch. If anything prevents that bookmark, a plain list follows in the same
 * cycle (B-1); see reflector_internal.h. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "informer/reflect/reflector_internal.h"
#include "informer/reflect/watch_list_memory.h"
#include "kube/api/client.h"
#include "object/value/value.h"

enum {
    DEADLINE_MS =
        30000, /* longest wait for the end bookmark, counted from the last initial event (R-37, B-1) */
    /* Only this many ADDEDs together extend the deadline. A server that ignores watch-lists sends a few as
     * objects are created in a busy cluster; these must not extend it. Initial objects come by thousands. */
    PROGRESS = 100,
    MOVES_MAX = 10, /* after this many deadlines from the start nothing extends it any more */
};

static int64_t deadline_ms(const struct reflector *r)
{
    int64_t ms = r->options.tuning.watch_list_deadline_ms;
    return ms > 0 ? ms : DEADLINE_MS;
}

static void show_memory(struct reflector *r, int64_t until_us)
{
    pthread_mutex_lock(&r->lock);
    r->status.no_watch_list_until_us = until_us;
    pthread_mutex_unlock(&r->lock);
}

/* Returns whether a reflector of this server has found the resource unusable for watch-lists. */
static bool is_remembered(struct reflector *r)
{
    const char *cause;
    int64_t until_us = 0;
    bool found = r->options.memory && r->options.tuning.watch_list == WATCH_LIST_AUTO &&
                 watch_list_memory_find(r->options.memory, r->options.clock, r->resource, &until_us, &cause);
    /* The status shows why this cycle lists although watch-lists are on. */
    if (found) {
        r->fallback.len = 0;
        buf_printf(&r->fallback, "earlier watch-list: %s", cause);
    }
    show_memory(r, until_us);
    return found;
}

bool reflector_may_watch_list(struct reflector *r)
{
    return r->options.tuning.watch_list != WATCH_LIST_OFF && !is_remembered(r);
}

static void request(struct reflector *r)
{
    list_progress_clear(&r->list);
    if (r->options.followed) followed_list_begins(r->options.followed);
    if (r->options.gains && gains_reset(r->options.gains)) r->version_unavailable = true;
    r->list.started_ms = clock_now_ms(r->options.clock);
    reflector_count(r, &r->status.counters.watch_lists, 1);
    timer_start(&r->deadline, r->options.clock, deadline_ms(r));
    reflector_open_watch(r, true);
}

void reflector_start_watch_list(struct reflector *r)
{
    reflector_enter(r, REFLECTOR_WATCH_LISTING);
    request(r);
}

/* --- the initial events */

/* A server sends all initial objects before anything else. After an event that is not ADDED the bookmark is
 * due, and further ADDEDs are new objects, so they no longer extend the deadline. */
static void note_progress(struct reflector *r, bool is_initial)
{
    r->watch.events++;
    if (!is_initial) r->watch.changing = true;
    if (r->watch.changing || ++r->watch.fresh < PROGRESS) return;
    r->watch.fresh = 0;
    if (clock_now_ms(r->options.clock) - r->list.started_ms < MOVES_MAX * deadline_ms(r))
        timer_start(&r->deadline, r->options.clock, deadline_ms(r));
}

/* Applies changes to the collected objects. The version stays unchanged until the bookmark: these
 * objects are in no order of versions. */
void watch_list_event(struct reflector *r, enum lw_event_type type, struct root *object)
{
    struct text text_ns, text_name;
    struct str ns = root_namespace(object, &text_ns), name = root_name(object, &text_name);
    note_progress(r, type == LW_ADDED);
    /* An accepted state ends the refusal of an earlier one. */
    refusals_remove(&r->list.refusals, ns, name);
    if (type != LW_DELETED) {
        collection_put(&r->list.objects, object);
        reflector_received(r, false);
        return;
    }
    collection_remove(&r->list.objects, ns, name);
    root_unref(object);
}

/* Most of them are initial objects, which prove that the server is sending those. */
void watch_list_skipped(struct reflector *r)
{
    note_progress(r, true);
}

/* Decision table, "watch-list stream | end bookmark": the same stream continues as the watch. */
void watch_list_bookmark(struct reflector *r, const struct lw_bookmark *bookmark)
{
    note_progress(r, false);
    if (!bookmark->initial_events_end) return; /* */
    if (r->options.followed) followed_filter(r->options.followed, &r->list.objects);
    const struct list_result result = {
        .by = REFLECTOR_SYNC_WATCH_LIST,
        .text = "watch-list",
        .objects = collection_count(&r->list.objects),
        .took_ms = clock_now_ms(r->options.clock) - r->list.started_ms,
    };
    timer_cancel(&r->deadline);
    r->watch.collecting = false;
    r->version_unavailable = false;
    r->fallback.len = 0;
    log_v(2, "Listed by a watch-list", F("reflector", r->name), FI("objects", result.objects),
          FS("resourceVersion", bookmark->resource_version));
    /* The server supports watch-lists after all, for all reflectors of the resource. */
    if (r->options.memory) watch_list_memory_forget(r->options.memory, r->resource);
    show_memory(r, 0);
    reflector_count(r, &r->status.counters.watch_lists_done, 1);
    reflector_listed(r, &result);
    buf_str(&r->list.found_version, bookmark->resource_version);
    collection_replace(&r->list.objects, r->options.fifo, buf_text(&r->list.found_version),
                       clock_wall_us(r->options.clock));
    reflector_saw_version(r, bookmark->resource_version);
    list_progress_clear(&r->list);
    reflector_watch_runs(r);
    reflector_recovered(r);
    if (r->options.followed) followed_watch_runs(r->options.followed);
}

/* --- its other ends */

static bool remember(struct reflector *r, const struct err *cause)
{
    if (!r->options.memory || r->options.tuning.watch_list != WATCH_LIST_AUTO) return false;
    watch_list_memory_note(r->options.memory, r->options.clock, r->resource, cause->text);
    show_memory(r, clock_wall_us(r->options.clock) + WATCH_LIST_MEMORY_MS * 1000LL);
    return true;
}

/* Starts a plain list in this cycle and drops the collected objects: without the bookmark nothing tells how
 * many are missing. */
static void fall_back(struct reflector *r, const struct err *err, bool for_long)
{
    struct err cause = *err;
    timer_cancel(&r->deadline);
    /* Still open after a deadline or a refused event; its later events must not reach the plain list. */
    if (r->call) r->options.source->ops->cancel(r->call);
    r->call = NULL;
    for_long = for_long && remember(r, err);
    r->fallback.len = 0;
    buf_printf(&r->fallback, "watch-list: %s", err->text);
    err_wrap(&cause, "failed to watch-list %s", r->name);
    reflector_set_error(r, &cause);
    if (r->failing_since_ms < 0) /* else the list that follows is logged */
        log_info("Watch-list failed, falling back to list", F("reflector", r->name), F("err", cause.text),
                 FI("objects", collection_count(&r->list.objects)), FI("remembered", for_long));
    /* After a silent stream the shared connection may be dead, so the list uses a new one (B-1). */
    reflector_start_list(r, err->code == ERR_TIMEOUT);
}

void watch_list_deadline(struct timer *timer)
{
    struct reflector *r = container_of(timer, struct reflector, deadline);
    struct err err;
    err_set(&err, ERR_TIMEOUT, "initial events did not end within %g s", (double)deadline_ms(r) / 1000);
    fall_back(r, &err, true);
}

/* Without a name it is unknown which object must go or stay. A list has one version of each object, so its
 * refusals can be handled. */
void watch_list_refused(struct reflector *r, const struct lw_refusal *refusal)
{
    struct err err;
    note_progress(r, !refusal->deleted);
    if (refusal->keyless) return;
    if (!refusal->name.n) {
        err_set(&err, ERR_LIMIT, "an event of an unknown object was refused");
        fall_back(r, &err, false);
    } else if (refusal->deleted) {
        collection_remove(&r->list.objects, refusal->ns, refusal->name);
    } else {
        collection_refuse(&r->list.objects, refusal);
    }
}

/* Decision table, "watch-list open or stream | Expired, too large RV": immediately, with version "".
 * Once only, as a server that rejects "" too would be called for ever. */
static bool may_list_latest(const struct reflector *r, const struct err *err)
{
    if (r->list.second_try) return false;
    return kube_err_is_expired(err) || err->too_large_version;
}

static void list_latest(struct reflector *r, const struct err *err)
{
    log_v(2, "Retrying watch-list immediately", F("reflector", r->name), F("err", err->text));
    r->version_unavailable = true;
    request(r);
    /* After request, which clears the progress of the list. */
    r->list.second_try = true;
}

/* Decision table, "watch-list stream | closed after >= 1 event or >= 1 s, or deadline passed, no end
 * bookmark": servers, and proxies before them, that do not know watch-lists end such a stream like any other.
 */
static void closed_early(struct reflector *r, const struct err *err)
{
    struct err cause;
    bool very_short = reflector_was_very_short(r);
    err_set(&cause, ERR_CLOSED, "the stream ended %s%s%s",
            very_short ? "within a second without an event" : "before the end of the initial events",
            err ? ": " : "", err ? err->text : "");
    /* A very short stream proves nothing about watch-lists: a server that is shutting down ends streams like
     * this too. So it is not remembered. */
    fall_back(r, &cause, !very_short);
}

/* Returns whether the server knows the parameters but has the feature disabled. Its error then names them; a
 * 400 about a selector proves nothing about the feature. */
static bool is_refusal(const struct err *err)
{
    return err->code == ERR_HTTP && (err->http_status == 400 || err->http_status == 422) &&
           (strstr(err->text, "sendInitialEvents") || strstr(err->text, "resourceVersionMatch"));
}

void watch_list_ended(struct reflector *r, const struct err *err)
{
    timer_cancel(&r->deadline);
    bool streamed = !err || r->watch.opened || r->watch.events > 0;
    if (streamed && reflector_is_end_of_stream(err)) {
        closed_early(r, err);
    } else if (may_list_latest(r, err)) {
        list_latest(r, err);
    } else if (kube_err_is_too_many_requests(err) || kube_err_is_connection_refused(err)) {
        /* "watch-list open | 429, connection refused": d, watch-list again with the same version. */
        struct err cause = *err;
        err_wrap(&cause, "failed to watch-list %s", r->name);
        list_progress_clear(&r->list);
        reflector_failed(r, &cause, NEXT_CYCLE);
    } else { /* "watch-list open or stream | any other error, very short stream" */
        fall_back(r, err, is_refusal(err));
    }
}
