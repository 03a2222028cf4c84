/* Lists and watches of one kind from a bucket: a list is the state at the beginning, a watch-list is that and
 * all that follows, and a watch reads on behind what the last call delivered. Values become lines of a watch,
 * for the stream that takes those of a server. Selectors are evaluated here; see bucket.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "engine/bucket/bucket_internal.h"
#include "engine/bucket/bucket_key.h"
#include "engine/bucket/bucket_scope.h"
#include "engine/bucket/bucket_value.h"
#include "kube/api/client.h"
#include "kube/api/object_head.h"
#include "kube/api/stream.h"

struct bucket_source {
    struct list_watch base;
    struct object_bucket *bucket;
    struct bucket_scope of;
    struct bucket_waiter waiter;
    uint64_t last;   /* sequence of the last message that was delivered; 0: none, or not all before it */
    int64_t created; /* of the bucket with that sequence */
};

/* The struct lw_call of a reflector. */
struct bucket_call {
    struct bucket_source *source;
    struct lw_options options; /* without texts */
    struct lw_sink sink;
    void *ctx;
    struct bucket_reader *reader; /* NULL: it is over, or did not begin */
    struct stream *stream;
    struct timer failing; /* an error that came too early */
    struct buf line, newest, ns, name, decoded;
    bool is_initial; /* of the message that is delivered */
    unsigned inside;
    bool over;
    struct err err;
};

static bool reads_on(const struct bucket_call *call)
{
    return call->options.verb == LW_WATCH && !call->options.send_initial_events;
}

/* --- ends */

static void end_call(struct bucket_call *call)
{
    if (call->reader) bucket_reader_stop(call->reader);
    call->reader = NULL;
    if (call->stream) stream_stop(call->stream);
    timer_cancel(&call->failing);
    call->over = true;
}

static void leave(struct bucket_call *call)
{
    if (--call->inside > 0 || !call->over) return;
    stream_free(call->stream);
    buf_clear(&call->line);
    buf_clear(&call->newest);
    buf_clear(&call->ns);
    buf_clear(&call->name);
    buf_clear(&call->decoded);
    free(call);
}

static void finish(struct bucket_call *call, const struct err *err)
{
    if (call->over) return;
    end_call(call);
    call->sink.done(call->ctx, err);
}

static void cancel(struct lw_call *opaque)
{
    struct bucket_call *call = (struct bucket_call *)opaque;
    call->inside++;
    end_call(call);
    leave(call);
}

/* --- objects, from the stream */

/* An object whose labels do not match any more is deleted for whoever had it. */
static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    struct bucket_call *call = ctx;
    if (!bucket_scope_has(&call->source->of, object)) {
        if (call->is_initial) {
            root_unref(object);
            return;
        }
        type = LW_DELETED;
    }
    if (call->options.verb == LW_LIST)
        call->sink.item(call->ctx, object);
    else
        call->sink.event(call->ctx, type, object, received_us);
}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    struct bucket_call *call = ctx;
    call->sink.refused(call->ctx, refusal);
}

static void on_skipped(void *ctx)
{
    struct bucket_call *call = ctx;
    if (call->sink.skipped) call->sink.skipped(call->ctx);
}

/* Nobody writes bookmarks there. */
static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark) {}

static const struct lw_sink stream_sink = {
    .event = on_event, .refused = on_refused, .skipped = on_skipped, .bookmark = on_bookmark};

static void begin_stream(struct bucket_call *call)
{
    const struct bucket_source *source = call->source;
    struct kube_client *client = source->bucket->options.client;
    stream_free(call->stream);
    call->stream = watch_stream_new(&(const struct stream_options){
        .packer = source->of.scope.packer ? source->of.scope.packer : kube_client_packer(client),
        .parser = kube_client_parser(client),
        .max_object_size = kube_client_max_object_size(client),
        .type = {.api_version = str_of(source->of.api_version),
                 .kind = str_of(source->of.resource.kind),
                 .always = source->of.scope.metadata_only,
                 .projection = source->of.scope.projection},
        .admits = source->of.scope.admits,
        .admits_ctx = source->of.scope.admits_ctx,
        .sink = &stream_sink,
        .ctx = call});
}

/* --- messages, from the reader */

static void on_opened(void *ctx, int64_t created)
{
    struct bucket_call *call = ctx;
    call->source->created = created;
    call->inside++;
    if (call->sink.opened) call->sink.opened(call->ctx);
    leave(call);
}

/* Without a value: of its head alone. False: the call is over, or the value is malformed. */
static bool feed_line(struct bucket_call *call, struct str value, bool is_deleted)
{
    const struct bucket_source *source = call->source;
    call->line.len = 0;
    bucket_value_put_line(&(const struct bucket_line){.type = is_deleted         ? "DELETED"
                                                              : call->is_initial ? "ADDED"
                                                                                 : "MODIFIED",
                                                      .api_version = source->of.api_version,
                                                      .kind = source->of.resource.kind,
                                                      .ns = buf_slice(&call->ns),
                                                      .name = buf_slice(&call->name),
                                                      .value = value},
                          &call->line);
    /* The fast path reads behind the end. */
    memset(buf_reserve(&call->line, TAPE_PADDING), 0, TAPE_PADDING);
    int64_t now_us = clock_wall_us(loop_clock(source->bucket->options.io_loop));
    return stream_feed(call->stream, call->line.data, call->line.len, now_us, &call->err);
}

static void refuse(struct bucket_call *call, const char *why)
{
    const struct object_head head = {.kind = str_of(call->source->of.resource.kind),
                                     .ns = buf_slice(&call->ns),
                                     .name = buf_slice(&call->name)};
    struct buf name = {0};
    struct err err;
    object_head_name(&head, &name);
    err_set(&err, ERR_PARSE, "%s: %s", buf_text(&name), why);
    buf_clear(&name);
    metric_inc(&metric_objects_refused);
    call->sink.refused(call->ctx, &(const struct lw_refusal){.err = &err, .ns = head.ns, .name = head.name});
}

/* A malformed value must not end the call, which would begin again with the same message for ever. A mark
 * counts whatever its value is: one without any is of an object that was never seen whole. */
static void feed(struct bucket_call *call, const struct bucket_message *message)
{
    struct err err = {.text = "the value in the bucket is not one object of JSON"};
    struct str value = bucket_value_decode((struct str){message->value, message->size}, message->encoding,
                                           kube_client_max_object_size(call->source->bucket->options.client),
                                           &call->decoded, &err);
    if (bucket_value_is_object(value)) {
        if (feed_line(call, value, message->is_deleted) || call->over) return;
        err_clear(&call->err);
        begin_stream(call);
    }
    if (!message->is_deleted)
        refuse(call, err.text);
    else if (!feed_line(call, (struct str){0}, true))
        finish(call, &call->err);
}

static void keep_newest(struct bucket_call *call, const char *version)
{
    bool is_newer = call->newest.len == 0 || version_is_newer(str_of(version), buf_slice(&call->newest));
    if (!*version || !is_newer) return;
    call->newest.len = 0;
    buf_puts(&call->newest, version);
}

static void on_message(void *ctx, const struct bucket_message *message, bool is_initial)
{
    struct bucket_call *call = ctx;
    struct bucket_source *source = call->source;
    call->inside++;
    call->is_initial = is_initial;
    if (is_initial) keep_newest(call, message->version);
    bool is_skipped =
        (is_initial && message->is_deleted) || !bucket_key_read(str_of(message->key), &call->ns, &call->name);
    if (!is_skipped && !source->of.is_one &&
        !bucket_part_has(source->bucket->options.place, buf_slice(&call->ns)))
        on_skipped(call);
    else if (!is_skipped)
        feed(call, message);
    /* Until the state is complete there is nothing to go on behind. */
    if (!call->over && !is_initial) source->last = message->sequence;
    leave(call);
}

static void on_caught_up(void *ctx, uint64_t sequence)
{
    struct bucket_call *call = ctx;
    struct str version = buf_slice(&call->newest);
    call->inside++;
    call->source->last = sequence;
    if (call->options.verb == LW_LIST) {
        call->sink.list_end(call->ctx, &(const struct lw_list_meta){
                                           .resource_version = version, .remaining = -1, .unordered = true});
        finish(call, NULL);
    } else
        call->sink.bookmark(
            call->ctx, &(const struct lw_bookmark){.resource_version = version, .initial_events_end = true});
    leave(call);
}

static void on_ended(void *ctx, const struct err *err)
{
    struct bucket_call *call = ctx;
    call->inside++;
    call->err = *err;
    finish(call, &call->err);
    leave(call);
}

/* --- calls */

static void on_failing(struct timer *timer)
{
    struct bucket_call *call = container_of(timer, struct bucket_call, failing);
    call->inside++;
    finish(call, &call->err);
    leave(call);
}

static bool check(struct bucket_call *call)
{
    struct bucket_source *source = call->source;
    if (source->of.err.code != ERR_NONE) {
        call->err = source->of.err;
        return false;
    }
    const char *version = bucket_listed(source->bucket, &source->of.resource, &call->err);
    if (!version) return false;
    buf_puts(&call->newest, version);
    if (!reads_on(call) || source->last > 0) return true;
    err_set(&call->err, ERR_HTTP, "the bucket has no message to go on behind");
    call->err.http_status = 410;
    return false;
}

static struct bucket_reader *read_on(struct bucket_call *call)
{
    static const struct bucket_reader_sink sink = {on_opened, on_message, on_caught_up, on_ended};
    struct bucket_source *source = call->source;
    struct object_bucket *bucket = source->bucket;
    bool on = reads_on(call);
    if (!on) source->last = 0;
    return bucket_reader_start(&bucket->readers,
                               &(const struct bucket_reader_options){.module = bucket->options.place->module,
                                                                     .target = &bucket->options.place->target,
                                                                     .filter = source->of.filter,
                                                                     .after = on ? source->last : 0,
                                                                     .created = source->created,
                                                                     .loop = bucket->options.io_loop,
                                                                     .sink = &sink,
                                                                     .ctx = call});
}

static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct bucket_source *source = container_of(base, struct bucket_source, base);
    struct bucket_call *call = NEW(struct bucket_call);
    call->source = source;
    call->options = *options;
    call->sink = *sink;
    call->ctx = ctx;
    call->failing.fn = on_failing;
    err_clear(&call->err);
    if (!check(call)) {
        timer_start(&call->failing, loop_clock(source->bucket->options.io_loop), 0);
        return (struct lw_call *)call;
    }
    begin_stream(call);
    call->reader = read_on(call);
    return (struct lw_call *)call;
}

/* Only calls with a connection of their own are paused, and these are none. */
static void pause_call(struct lw_call *call, bool paused) {}

static void on_reachable(struct list_watch *base, void (*fn)(void *ctx), void *ctx)
{
    struct bucket_source *source = container_of(base, struct bucket_source, base);
    source->waiter.fn = fn;
    source->waiter.ctx = ctx;
    LIST_INSERT_HEAD(&source->bucket->waiters, &source->waiter, link);
}

static void free_source(struct list_watch *base)
{
    struct bucket_source *source = container_of(base, struct bucket_source, base);
    if (source->waiter.fn) LIST_REMOVE(&source->waiter, link);
    bucket_scope_clear(&source->of);
    free(source);
}

struct list_watch *bucket_source_new(struct object_bucket *bucket, const struct resource *resource,
                                     const struct lw_scope *scope)
{
    static const struct list_watch_ops ops = {.start = start,
                                              .cancel = cancel,
                                              .free = free_source,
                                              .pause = pause_call,
                                              .on_reachable = on_reachable};
    struct bucket_source *source = NEW(struct bucket_source);
    source->base.ops = &ops;
    source->bucket = bucket;
    bucket_scope_read(&source->of, resource, scope);
    return &source->base;
}
