/* Status of a reflector: written on the I/O thread, read from any thread; see reflector.h. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "informer/reflect/reflector_internal.h"
#include "object/value/value.h"

METRIC(metric_stream_errors, 6, "kubelua_stream_errors_total", "Number of lists and watches that failed.");

/* A list may have thousands of objects that are refused for the same reason. */
enum { REFUSAL_INTERVAL_MS = 1000 };

/* The lock is taken for one of so many objects of a list. */
enum { RECEIVED_STEP = 256 };

const char *reflector_state_name(enum reflector_state state)
{
    static const char *const names[] = {
        [REFLECTOR_IDLE] = "idle",
        [REFLECTOR_LISTING] = "listing",
        [REFLECTOR_WATCHING] = "watching",
        [REFLECTOR_BACKING_OFF] = "backing off",
        [REFLECTOR_WATCH_LISTING] = "watch-listing",
    };
    return (size_t)state < ARRAY_LEN(names) ? names[state] : "";
}

const char *reflector_sync_name(enum reflector_sync sync)
{
    static const char *const names[] = {
        [REFLECTOR_SYNC_NONE] = "none",
        [REFLECTOR_SYNC_LIST] = "list",
        [REFLECTOR_SYNC_WATCH_LIST] = "watch-list",
        [REFLECTOR_SYNC_FALLBACK] = "list after a failed watch-list",
        [REFLECTOR_SYNC_STORED] = "stored cache",
    };
    return (size_t)sync < ARRAY_LEN(names) ? names[sync] : "";
}

void reflector_notify(struct reflector *r)
{
    if (r->options.changed) r->options.changed(r->options.ctx);
}

void reflector_enter(struct reflector *r, enum reflector_state state)
{
    pthread_mutex_lock(&r->lock);
    bool changed = r->status.state != state;
    r->status.state = state;
    r->status.received = r->status.expected = 0;
    if (changed) r->status.since_us = clock_wall_us(r->options.clock);
    pthread_mutex_unlock(&r->lock);
    if (changed) reflector_notify(r);
}

void reflector_received(struct reflector *r, bool is_page)
{
    size_t received = collection_count(&r->list.objects);
    if (!is_page && received % RECEIVED_STEP != 0) return;
    pthread_mutex_lock(&r->lock);
    r->status.received = received;
    r->status.expected = r->list.expected;
    pthread_mutex_unlock(&r->lock);
}

void reflector_count(struct reflector *r, uint64_t *counter, uint64_t n)
{
    pthread_mutex_lock(&r->lock);
    *counter += n;
    pthread_mutex_unlock(&r->lock);
}

void reflector_saw_version(struct reflector *r, struct str version)
{
    size_t room = sizeof r->status.resource_version - 1, shown = version.n < room ? version.n : room;
    r->version.len = 0;
    buf_str(&r->version, version);
    pthread_mutex_lock(&r->lock);
    /* A version that does not fit is cut off for display only; requests use r->version. */
    memcpy(r->status.resource_version, buf_text(&r->version), shown);
    r->status.resource_version[shown] = '\0';
    r->status.heard_us = clock_wall_us(r->options.clock);
    pthread_mutex_unlock(&r->lock);
}

/* Call with the lock held. */
static void show_refusals(struct reflector *r)
{
    struct reflector_status *status = &r->status;
    status->refused = refusals_count(&r->refusals);
    snprintf(status->refused_text, sizeof status->refused_text, "%s", refusals_text(&r->refusals));
}

void reflector_listed(struct reflector *r, const struct list_result *result)
{
    struct reflector_status *status = &r->status;
    if (r->options.gains) gains_listed_all(r->options.gains, &r->options.shard->slots);
    pthread_mutex_lock(&r->lock);
    bool changed = !status->listed_once || status->last_error.code != ERR_NONE || status->refused ||
                   refusals_count(&r->list.refusals);
    status->listed_once = true;
    status->synced_by = result->by;
    snprintf(status->sync_text, sizeof status->sync_text, "%s", result->text);
    status->synced_us = clock_wall_us(r->options.clock);
    status->pages = result->pages;
    if (result->by != REFLECTOR_SYNC_STORED) {
        status->counters.lists_done++;
        status->counters.list_ms += (uint64_t)result->took_ms;
        status->counters.listed_items += result->objects;
    }
    /* A complete list knows all refused objects, so what the watch had noted before is dropped. */
    refusals_move(&r->refusals, &r->list.refusals);
    show_refusals(r);
    err_clear(&status->last_error);
    pthread_mutex_unlock(&r->lock);
    if (changed) reflector_notify(r);
}

/* Clears the last error and notifies only if there was one: this runs for every event of a watch. */
static void clear_error(struct reflector *r)
{
    pthread_mutex_lock(&r->lock);
    bool changed = r->status.last_error.code != ERR_NONE;
    if (changed) err_clear(&r->status.last_error);
    pthread_mutex_unlock(&r->lock);
    if (changed) reflector_notify(r);
}

void reflector_opened(struct reflector *r)
{
    clear_error(r);
}

static void saw_event(struct reflector *r)
{
    r->watch.events++;
    r->alive_until_ms = clock_now_ms(r->options.clock);
    clear_error(r);
    if (r->failing_since_ms >= 0) reflector_recovered(r);
}

void reflector_saw_event(struct reflector *r, bool is_object)
{
    struct reflector_counters *counters = &r->status.counters;
    reflector_count(r, is_object ? &counters->watched_objects : &counters->bookmarks, 1);
    saw_event(r);
}

void reflector_skipped(struct reflector *r)
{
    if (r->watch.collecting)
        watch_list_skipped(r);
    else
        saw_event(r);
}

/* Logs at most one line a second; the next line counts the omitted ones, if any. */
static void log_refusal(struct reflector *r, const struct err *err)
{
    int64_t now_ms = clock_now_ms(r->options.clock);
    if (now_ms < r->refusal_quiet_ms) {
        r->refusals_unlogged++;
        return;
    }
    if (r->refusals_unlogged > 0)
        log_warn("Object refused", F("reflector", r->name), F("err", err->text),
                 FI("unreported", r->refusals_unlogged));
    else
        log_warn("Object refused", F("reflector", r->name), F("err", err->text));
    r->refusal_quiet_ms = now_ms + REFUSAL_INTERVAL_MS;
    r->refusals_unlogged = 0;
}

void reflector_accepted(struct reflector *r, const struct root *object)
{
    struct text ns, name;
    /* Without the lock, which every event would take otherwise: this thread alone changes the refusals. */
    if (!r->refusals.known) return;
    refusals_remove(&r->refusals, root_namespace(object, &ns), root_name(object, &name));
    pthread_mutex_lock(&r->lock);
    bool changed = r->status.refused != refusals_count(&r->refusals);
    if (changed) show_refusals(r);
    pthread_mutex_unlock(&r->lock);
    if (changed) reflector_notify(r);
}

void reflector_refused(struct reflector *r, struct refusals *refusals, const struct lw_refusal *refusal)
{
    refusals_note(refusals, refusal);
    pthread_mutex_lock(&r->lock);
    r->status.counters.refused++;
    /* Refusals of a list in progress are published with the list: until then the cache is the old one. */
    if (refusals == &r->refusals) show_refusals(r);
    pthread_mutex_unlock(&r->lock);
    log_refusal(r, refusal->err);
    reflector_notify(r);
}

void reflector_set_error(struct reflector *r, const struct err *err)
{
    metric_inc(&metric_stream_errors);
    pthread_mutex_lock(&r->lock);
    r->status.last_error = *err;
    pthread_mutex_unlock(&r->lock);
}

void reflector_get_status(struct reflector *reflector, struct reflector_status *out)
{
    pthread_mutex_lock(&reflector->lock);
    *out = reflector->status;
    pthread_mutex_unlock(&reflector->lock);
}
