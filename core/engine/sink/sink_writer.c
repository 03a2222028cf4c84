/* Thread that stores the events of a sink. All that wait are written together and synced once, so that many
 * calls of publish cost as little as one. While there is no room, or the disk refuses, calls wait. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/sink/sink_internal.h"

enum { RETRY_MS = 1000, IDLE_MS = 10000, FOR_EVER_MS = 3600000, GROUP_MAX = 1000 };

/* --- records */

void sink_put_record(struct buf *out, const struct sink_event *event)
{
    const uint16_t lengths[2] = {(uint16_t)event->id.n, (uint16_t)event->key.n};
    buf_append(out, lengths, sizeof lengths);
    buf_str(out, event->id);
    buf_str(out, event->key);
    buf_str(out, event->json);
}

bool sink_get_record(struct str record, struct sink_event *event)
{
    uint16_t lengths[2];
    if (record.n < sizeof lengths) return false;
    memcpy(lengths, record.p, sizeof lengths);
    size_t before = sizeof lengths + lengths[0] + lengths[1];
    if (before > record.n) return false;
    event->id = (struct str){record.p + sizeof lengths, lengths[0]};
    event->key = (struct str){event->id.p + event->id.n, lengths[1]};
    event->json = (struct str){record.p + before, record.n - before};
    return true;
}

/* --- the spool */

/* With the lock. */
static void note_disk_error(struct sink *sink, const struct err *err)
{
    if (strncmp(sink->disk_error, err->text, SINK_ERROR_MAX - 1) == 0) return;
    snprintf(sink->disk_error, sizeof sink->disk_error, "%.*s", SINK_ERROR_MAX - 1, err->text);
    log_error("Cannot store events, retrying", F("script", sink->script), F("sink", sink->name),
              F("err", err->text));
}

static void on_torn(void *ctx, const char *path, uint64_t bytes)
{
    struct sink *sink = ctx;
    log_warn("Dropped an incomplete event at the end of the spool", F("script", sink->script),
             F("sink", sink->name), F("file", path), FI("bytes", bytes));
}

static void on_damaged(void *ctx, const char *path, const char *aside, uint64_t lost, uint64_t bytes)
{
    struct sink *sink = ctx;
    series_inc(sink->damaged);
    sink_count(sink, SINK_LOST, lost);
    log_error("A file of the spool is damaged, its events are lost", F("script", sink->script),
              F("sink", sink->name), F("file", path), F("keptAs", aside ? aside : ""), FI("events", lost),
              FI("bytes", bytes));
}

/* `quiet`: nobody waits for it, and another process may have it. */
static void open_spool(struct sink *sink, size_t max_bytes, bool quiet)
{
    struct err err;
    struct spool *spool = spool_open(
        sink->dir,
        &(const struct spool_options){.max_bytes = max_bytes, .watcher = {on_torn, on_damaged, sink}}, &err);
    pthread_mutex_lock(&sink->disk);
    pthread_mutex_lock(&sink->lock);
    sink->spool = spool;
    sink->stores++;
    if (spool)
        sink->disk_error[0] = '\0';
    else if (!quiet || err.code != ERR_OUTDATED)
        note_disk_error(sink, &err);
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
    if (spool) sink_show_spool(sink);
    uint64_t count = spool ? spool_count(spool) : 0;
    pthread_mutex_unlock(&sink->disk);
    if (count > 0)
        log_info("Continues with the events of the spool", F("script", sink->script), F("sink", sink->name),
                 FI("events", count));
}

/* Lets other processes have a spool that is empty: replicas may share the directory, and the next leader goes
 * on with what the last one stored. */
static void close_spool(struct sink *sink)
{
    pthread_mutex_lock(&sink->disk);
    pthread_mutex_lock(&sink->lock);
    struct spool *spool = sink->spool;
    if (spool_count(spool) == 0 && TAILQ_EMPTY(&sink->waiting))
        sink->spool = NULL;
    else
        spool = NULL;
    pthread_mutex_unlock(&sink->lock);
    pthread_mutex_unlock(&sink->disk);
    spool_free(spool);
}

/* --- groups */

/* Moves calls to `taken` as far as there is room; with the lock. */
static void take_group(struct sink *sink, size_t room, struct sink_publishes *taken)
{
    struct sink_publish *publish;
    for (size_t count = 0; count < GROUP_MAX && (publish = TAILQ_FIRST(&sink->waiting)); count++) {
        size_t bytes = publish->record.len + SPOOL_RECORD_EXTRA;
        if (bytes > room) break;
        room -= bytes;
        TAILQ_REMOVE(&sink->waiting, publish, link);
        TAILQ_INSERT_TAIL(taken, publish, link);
        publish->state = PUBLISH_TAKEN;
    }
}

/* With the lock. */
static void put_back(struct sink *sink, struct sink_publishes *taken)
{
    struct sink_publish *publish;
    while ((publish = TAILQ_LAST(taken, sink_publishes))) {
        TAILQ_REMOVE(taken, publish, link);
        publish->state = PUBLISH_WAITS;
        TAILQ_INSERT_HEAD(&sink->waiting, publish, link);
    }
}

/* With the lock. */
static void finish(struct sink *sink, struct sink_publishes *taken)
{
    struct sink_publish *publish;
    size_t count = 0;
    while ((publish = TAILQ_FIRST(taken))) {
        TAILQ_REMOVE(taken, publish, link);
        publish->state = PUBLISH_STORED;
        TAILQ_INSERT_TAIL(&sink->stored, publish, link);
        count++;
    }
    sink->waiting_count -= count;
    sink_count(sink, SINK_PUBLISHED, count);
    sink->disk_error[0] = '\0';
    sink->stores++;
    pthread_cond_broadcast(&sink->changed);
}

/* The sender reads and acknowledges meanwhile, except where the spool changes. */
static bool store(struct sink *sink, struct sink_publishes *taken, struct err *err)
{
    struct sink_publish *publish;
    bool ok = true;
    pthread_mutex_lock(&sink->disk);
    TAILQ_FOREACH (publish, taken, link)
        ok = ok && spool_append(sink->spool, buf_slice(&publish->record), err);
    pthread_mutex_unlock(&sink->disk);
    ok = ok && spool_sync(sink->spool, err);
    pthread_mutex_lock(&sink->disk);
    if (ok) {
        spool_commit(sink->spool);
    } else {
        spool_drop(sink->spool);
        spool_ack(sink->spool, 0); /* the disk may be full of files of which nothing is needed */
    }
    sink_show_spool(sink);
    pthread_mutex_unlock(&sink->disk);
    return ok;
}

/* Stores what waits, as far as there is room. Returns whether it did. */
static bool store_group(struct sink *sink)
{
    struct sink_publishes taken = TAILQ_HEAD_INITIALIZER(taken);
    struct err err;
    pthread_mutex_lock(&sink->disk);
    size_t room = spool_room(sink->spool);
    pthread_mutex_unlock(&sink->disk);
    pthread_mutex_lock(&sink->lock);
    take_group(sink, room, &taken);
    pthread_mutex_unlock(&sink->lock);
    if (TAILQ_EMPTY(&taken)) {
        /* A disk that was full may have kept files of which nothing is needed. */
        pthread_mutex_lock(&sink->disk);
        spool_ack(sink->spool, 0);
        pthread_mutex_unlock(&sink->disk);
        return false;
    }
    bool ok = store(sink, &taken, &err);
    pthread_mutex_lock(&sink->lock);
    if (ok) {
        finish(sink, &taken);
    } else {
        put_back(sink, &taken);
        note_disk_error(sink, &err);
    }
    pthread_mutex_unlock(&sink->lock);
    /* Also of those that have been given up meanwhile. */
    waker_wake(sink->hub->waker);
    return ok;
}

/* Opens a spool that an earlier process left, even if nothing is published any more; one that another process
 * still has, perhaps a child of the earlier one, is left for the next time. With the lock, which is let go
 * meanwhile. */
static void open_left(struct sink *sink, bool *is_left)
{
    size_t max_bytes = sink->spool_max;
    pthread_mutex_unlock(&sink->lock);
    open_spool(sink, max_bytes, true);
    pthread_mutex_lock(&sink->lock);
    if (sink->spool) *is_left = false;
}

/* Waits until events do, or until the spool has been empty for a while and is closed. With the lock, which is
 * let go meanwhile. */
static void await_events(struct sink *sink, bool *is_left)
{
    int64_t until_ms = clock_now_ms(clock_real()) + IDLE_MS;
    while (!sink->ends && TAILQ_EMPTY(&sink->waiting)) {
        int64_t left_ms = until_ms - clock_now_ms(clock_real());
        bool is_open = sink->spool;
        if (left_ms <= 0 && is_open && atomic_load(&sink->spool_events) == 0) {
            pthread_mutex_unlock(&sink->lock);
            close_spool(sink);
            pthread_mutex_lock(&sink->lock);
        } else if (left_ms <= 0 && !is_open && *is_left) {
            open_left(sink, is_left);
        } else {
            sink_wait(sink, left_ms > 0 ? left_ms : is_open || *is_left ? IDLE_MS : FOR_EVER_MS);
            continue;
        }
        until_ms = clock_now_ms(clock_real()) + IDLE_MS;
    }
}

/* Stores what waits. With the lock, which is let go meanwhile. */
static void work(struct sink *sink)
{
    size_t max_bytes = sink->spool_max;
    uint64_t deliveries = sink->deliveries;
    bool is_open = sink->spool, did = false;
    pthread_mutex_unlock(&sink->lock);
    if (is_open)
        did = store_group(sink);
    else
        open_spool(sink, max_bytes, false);
    pthread_mutex_lock(&sink->lock);
    bool waits = is_open ? !did : !sink->spool;
    if (waits && !sink->ends && sink->deliveries == deliveries) sink_wait(sink, RETRY_MS);
}

void *sink_writer_run(void *ctx)
{
    struct sink *sink = ctx;
    bool is_left = access(sink->dir, F_OK) == 0;
    pthread_mutex_lock(&sink->lock);
    if (is_left) open_left(sink, &is_left);
    while (!sink->ends) {
        if (TAILQ_EMPTY(&sink->waiting))
            await_events(sink, &is_left);
        else
            work(sink);
    }
    pthread_mutex_unlock(&sink->lock);
    return NULL;
}
