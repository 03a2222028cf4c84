/* Calls of publish, on the engine thread: they wait for the thread that stores events. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/text/size.h"
#include "engine/sink/sink_internal.h"

enum { BUSY_MS = 20 };

void sink_publish_free(struct sink_publish *publish)
{
    timer_cancel(&publish->timeout);
    buf_clear(&publish->record);
    free(publish);
}

static void set_timeout_err(struct sink *sink, struct err *err)
{
    struct buf size = {0};
    size_text(sink->spool_max, &size);
    if (sink->disk_error[0])
        err_set(err, ERR_TIMEOUT, "sink %s: the event was not stored in time: %s", sink->name,
                sink->disk_error);
    else
        err_set(err, ERR_TIMEOUT,
                "sink %s: the event was not stored in time: the spool is full (spool = %s)%s%s", sink->name,
                buf_text(&size), sink->error[0] ? ", as events are not delivered: " : "", sink->error);
    buf_clear(&size);
}

static void on_timeout(struct timer *timer)
{
    struct sink_publish *publish = container_of(timer, struct sink_publish, timeout);
    struct sink *sink = publish->sink;
    struct err err;
    pthread_mutex_lock(&sink->lock);
    bool waits = publish->state == PUBLISH_WAITS;
    if (waits) {
        TAILQ_REMOVE(&sink->waiting, publish, link);
        sink->waiting_count--;
        set_timeout_err(sink, &err);
    }
    pthread_mutex_unlock(&sink->lock);
    if (!waits) {
        /* It is being written; if that fails, it waits again. */
        timer_start(timer, loop_clock(sink->hub->options.loop), BUSY_MS);
        return;
    }
    publish->done(publish->ctx, &err);
    sink_publish_free(publish);
}

struct sink_publish *sink_publish_start(struct sink *sink, const struct sink_event *event, int64_t timeout_ms,
                                        sink_publish_done *done, void *ctx)
{
    struct sink_publish *publish = NEW(struct sink_publish);
    publish->sink = sink;
    publish->done = done;
    publish->ctx = ctx;
    publish->timeout.fn = on_timeout;
    sink_put_record(&publish->record, event);
    timer_start(&publish->timeout, loop_clock(sink->hub->options.loop), timeout_ms);
    pthread_mutex_lock(&sink->lock);
    TAILQ_INSERT_TAIL(&sink->waiting, publish, link);
    sink->waiting_count++;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
    return publish;
}

void sink_publish_cancel(struct sink_publish *publish)
{
    struct sink *sink = publish->sink;
    pthread_mutex_lock(&sink->lock);
    bool waits = publish->state == PUBLISH_WAITS;
    if (waits) {
        TAILQ_REMOVE(&sink->waiting, publish, link);
        sink->waiting_count--;
    } else {
        publish->done = NULL;
    }
    pthread_mutex_unlock(&sink->lock);
    timer_cancel(&publish->timeout);
    if (waits) sink_publish_free(publish);
}

/* Ends calls that were given up while their event was being written, and then was not. */
static void drop_given_up(struct sink *sink)
{
    struct sink_publish *publish, *next;
    for (publish = TAILQ_FIRST(&sink->waiting); publish; publish = next) {
        next = TAILQ_NEXT(publish, link);
        if (publish->done) continue;
        TAILQ_REMOVE(&sink->waiting, publish, link);
        sink->waiting_count--;
        sink_publish_free(publish);
    }
}

void sink_end_stored(struct sink *sink)
{
    struct sink_publishes stored = TAILQ_HEAD_INITIALIZER(stored);
    struct sink_publish *publish;
    pthread_mutex_lock(&sink->lock);
    TAILQ_CONCAT(&stored, &sink->stored, link);
    drop_given_up(sink);
    pthread_mutex_unlock(&sink->lock);
    while ((publish = TAILQ_FIRST(&stored))) {
        TAILQ_REMOVE(&stored, publish, link);
        if (publish->done) publish->done(publish->ctx, NULL);
        sink_publish_free(publish);
    }
}
