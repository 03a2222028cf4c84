/* Reads what a publisher says of itself and of the cluster's kinds, again and again; see bucket.h. */
#include "engine/bucket/bucket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "engine/bucket/bucket_internal.h"
#include "engine/bucket/bucket_key.h"
#include "net/transport.h"

enum {
    RETRY_FIRST_MS = 500,
    RETRY_MAX_MS = 10000,
    TICK_MS = 1000,
    SILENT_MS = 11000,
};

static struct clock *clock_of(const struct object_bucket *bucket)
{
    return loop_clock(bucket->options.io_loop);
}

void bucket_wake_waiters(struct object_bucket *bucket)
{
    struct bucket_waiter *waiter;
    LIST_FOREACH (waiter, &bucket->waiters, link) waiter->fn(waiter->ctx);
}

/* --- the reader */

static void set_error(struct object_bucket *bucket, const char *text)
{
    pthread_mutex_lock(&bucket->lock);
    snprintf(bucket->status.error, sizeof bucket->status.error, "%s", text);
    pthread_mutex_unlock(&bucket->lock);
}

static void on_opened(void *ctx, int64_t created)
{
    struct object_bucket *bucket = ctx;
    if (bucket->was_lost) log_info("Bucket is read again", F("bucket", bucket->status.shown));
    bucket->was_lost = false;
    bucket->retry_ms = RETRY_FIRST_MS;
    bucket->heard_ms = clock_now_ms(clock_of(bucket));
    err_clear(&bucket->err);
    set_error(bucket, "");
}

static void on_message(void *ctx, const struct bucket_message *message, bool is_initial)
{
    if (message->is_deleted) return;
    if (strcmp(message->key, BUCKET_KEY_PUBLISHER) == 0) bucket_take_record(ctx, message, is_initial);
    if (strcmp(message->key, BUCKET_KEY_KINDS) == 0) bucket_take_kinds(ctx, message);
}

static void nothing_yet(struct object_bucket *bucket)
{
    if (bucket->kinds_malformed)
        err_set(&bucket->err, ERR_PARSE, "%s: the publisher's kinds are malformed", bucket->status.shown);
    else
        err_set(&bucket->err, ERR_CONNECT, "%s: nothing is published there yet", bucket->status.shown);
    bucket_give_kinds(bucket, &bucket->err);
}

static void on_caught_up(void *ctx, uint64_t sequence)
{
    struct object_bucket *bucket = ctx;
    bucket_wake_waiters(bucket);
    if (bucket->done && bucket->catalogue.len == 0) nothing_yet(bucket);
}

static void on_ended(void *ctx, const struct err *err)
{
    struct object_bucket *bucket = ctx;
    bucket->err = *err;
    err_wrap(&bucket->err, "%s", bucket->status.shown);
    bucket_reader_stop(bucket->about);
    bucket->about = NULL;
    if (!bucket->was_lost)
        log_warn("Bucket cannot be read, retrying", F("bucket", bucket->status.shown), F("err", err->text));
    bucket->was_lost = true;
    set_error(bucket, err->text);
    timer_start(&bucket->retry, clock_of(bucket), bucket->retry_ms);
    bucket->retry_ms = bucket->retry_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : bucket->retry_ms * 2;
    if (bucket->done) bucket_give_kinds(bucket, &bucket->err);
}

static void read_about(struct object_bucket *bucket)
{
    static const struct bucket_reader_sink sink = {on_opened, on_message, on_caught_up, on_ended};
    bucket->about = bucket_reader_start(
        &bucket->readers, &(const struct bucket_reader_options){.module = bucket->options.place->module,
                                                                .target = &bucket->options.place->target,
                                                                .filter = "*",
                                                                .loop = bucket->options.io_loop,
                                                                .sink = &sink,
                                                                .ctx = bucket});
}

static void on_retry(struct timer *timer)
{
    read_about(container_of(timer, struct object_bucket, retry));
}

static void on_tick(struct timer *timer)
{
    struct object_bucket *bucket = container_of(timer, struct object_bucket, tick);
    int64_t silent_ms = clock_now_ms(clock_of(bucket)) - bucket->heard_ms;
    if (bucket->about && bucket->has_record && silent_ms > SILENT_MS && !bucket->was_silent) {
        bucket->was_silent = true;
        log_warn("Publisher is silent, objects may be old", F("bucket", bucket->status.shown),
                 F("publisher", bucket->status.publisher), FI("silentMs", silent_ms));
    }
    if (bucket->has_record) series_set(bucket->silent, (double)silent_ms / 1000);
    timer_start(timer, clock_of(bucket), TICK_MS);
}

void bucket_begin(struct object_bucket *bucket)
{
    if (bucket->has_begun) return;
    bucket->has_begun = true;
    read_about(bucket);
    on_tick(&bucket->tick);
}

/* --- for others */

struct object_bucket *bucket_new(const struct bucket_options *options)
{
    struct object_bucket *bucket = NEW(struct object_bucket);
    bucket->options = *options;
    bucket->retry_ms = RETRY_FIRST_MS;
    bucket->retry.fn = on_retry;
    bucket->tick.fn = on_tick;
    bucket->status.shown = options->place->target.shown;
    bucket->status.part = options->place->part;
    bucket->status.parts = options->place->parts;
    err_clear(&bucket->err);
    pthread_mutex_init(&bucket->lock, NULL);
    return bucket;
}

void bucket_on_kinds(struct object_bucket *bucket, void (*fn)(void *ctx), void *ctx)
{
    bucket->on_kinds = fn;
    bucket->on_kinds_ctx = ctx;
}

void bucket_fetch_kinds(struct object_bucket *bucket,
                        void (*done)(void *ctx, struct catalogue *catalogue, const struct err *err),
                        void *ctx)
{
    bucket->done = done;
    bucket->done_ctx = ctx;
    bucket_begin(bucket);
    if (bucket->catalogue.len > 0)
        bucket_give_kinds(bucket, NULL);
    else if (bucket->err.code != ERR_NONE)
        bucket_give_kinds(bucket, &bucket->err);
}

/* An error as of a server that cannot be reached: it is tried again once more is there. */
static const char *not_yet(struct object_bucket *bucket, const struct resource *resource, struct err *err)
{
    struct buf name = {0};
    resource_name(resource, &name);
    if (bucket->err.code != ERR_NONE)
        *err = bucket->err;
    else
        err_set(err, ERR_CONNECT, "%s: %s are not complete there yet", bucket->status.shown, buf_text(&name));
    err->code = ERR_CONNECT;
    snprintf(err->reason, sizeof err->reason, "%s", HTTP_REASON_REFUSED);
    err->unreachable = true;
    buf_clear(&name);
    return NULL;
}

static bool is_same(const struct resource *a, const struct resource *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->version, b->version) == 0 &&
           strcmp(a->plural, b->plural) == 0;
}

const char *bucket_listed(struct object_bucket *bucket, const struct resource *resource, struct err *err)
{
    struct buf name = {0};
    bucket_begin(bucket);
    for (size_t i = 0; i < bucket->kind_count; i++)
        if (is_same(&bucket->kinds[i].resource, resource))
            return *bucket->kinds[i].version ? bucket->kinds[i].version : not_yet(bucket, resource, err);
    if (!bucket->has_record) return not_yet(bucket, resource, err);
    resource_name(resource, &name);
    err_set(err, ERR_NOT_FOUND, "%s has no %s; its publisher does not publish that kind",
            bucket->status.shown, buf_text(&name));
    buf_clear(&name);
    return NULL;
}

void bucket_get_status(struct object_bucket *bucket, struct bucket_status *out)
{
    pthread_mutex_lock(&bucket->lock);
    *out = bucket->status;
    pthread_mutex_unlock(&bucket->lock);
}

void bucket_free(struct object_bucket *bucket)
{
    if (!bucket) return;
    timer_cancel(&bucket->retry);
    timer_cancel(&bucket->tick);
    bucket_readers_clear(&bucket->readers);
    bucket_clear_kinds(bucket);
    series_free(bucket->silent);
    buf_clear(&bucket->catalogue);
    pthread_mutex_destroy(&bucket->lock);
    free(bucket);
}
