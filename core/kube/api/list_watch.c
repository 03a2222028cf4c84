/* Lists and watches of one resource through a client: the real source of a reflector; see list_watch.h. */
#include "kube/api/list_watch.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/api/client.h"
#include "kube/api/list_watch_path.h"
#include "kube/api/rest_metrics.h"
#include "kube/api/stream.h"
#include "kube/api/throttled.h"
#include "kube/kinds/resource.h"
#include "object/pack/projection.h"

enum {
    LIST_IDLE_MS = 60000,      /* a list that receives nothing for this long has ended */
    WATCH_GRACE_MS = 30000,    /* how much longer than its timeoutSeconds a watch may last (F-14) */
    ERROR_BODY_MAX = 64 << 10, /* of an error response */
};

struct kube_source {
    struct list_watch base;
    struct kube_client *client;
    struct resource resource;
    char *namespace_, *label_selector, *field_selector;
    struct projection *projection;
    struct packer *packer; /* borrowed; NULL: the client's */
    bool (*admits)(void *ctx, struct str ns);
    void *admits_ctx;
    const struct lw_shard *shard;
    bool metadata_only;
    struct reach_waiter waiter; /* `fn` NULL: not added */
    bool whole_only;            /* the server refused to send metadata alone */
    bool is_odd;                /* its watches are packed as they come (stream.h) */
    char *api_version; /* with the resource's kind: what items of a list are unless the list says otherwise */
};

struct lw_call {
    struct kube_source *source; /* outlives its calls */
    struct kube_client *client;
    struct http_exchange *exchange; /* NULL when it is over */
    struct stream *stream;          /* NULL until the response proved good */
    struct buf error_body;
    char *path;
    bool own_connection;
    struct timer timer;  /* of a watch's end, or for an error that came too early */
    struct timer permit; /* of a list, until the client-side rate limit allows it (H-1) */
    int64_t started_ns;
    size_t received; /* bytes */
    struct stream_options stream_options;
    struct lw_sink sink;
    void *ctx;
    enum lw_verb verb;
    int timeout_seconds;
    unsigned inside; /* callbacks of ours that are running */
    bool over;       /* cancelled or done: free it when nothing is inside */
    struct err err;
};

static struct clock *call_clock(const struct lw_call *call)
{
    return loop_clock(kube_client_loop(call->client));
}

/* Ends a call; no callback follows. */
static void end_call(struct lw_call *call)
{
    if (call->exchange) http_cancel(call->exchange);
    call->exchange = NULL;
    if (call->stream) stream_stop(call->stream);
    if (timer_running(&call->permit))
        kube_client_unthrottle(call->client, call->permit.due_ms - clock_now_ms(call_clock(call)));
    timer_cancel(&call->permit);
    timer_cancel(&call->timer);
    call->over = true;
}

static void enter(struct lw_call *call)
{
    call->inside++;
}

static void leave(struct lw_call *call)
{
    if (--call->inside > 0 || !call->over) return;
    stream_free(call->stream);
    buf_clear(&call->error_body);
    free(call->path);
    free(call);
}

/* Calls `done`, once. */
static void finish(struct lw_call *call, const struct err *err)
{
    if (call->over) return;
    if (call->verb == LW_LIST) {
        rest_metrics_done(kube_client_metrics(call->client), "GET", call->started_ns);
        rest_metrics_received(kube_client_metrics(call->client), "GET", call->received);
    }
    end_call(call);
    call->sink.done(call->ctx, err);
}

static void cancel(struct lw_call *call)
{
    enter(call);
    end_call(call);
    leave(call);
}

static void pause_call(struct lw_call *call, bool paused)
{
    if (call->exchange) http_pause(call->exchange, paused);
}

static bool is_json(const char *content_type)
{
    struct str type = str_of(content_type);
    return !type.n || str_starts(type, STR("application/json"));
}

static void on_response(void *ctx, const struct http_response *response)
{
    struct lw_call *call = ctx;
    rest_metrics_result(kube_client_metrics(call->client), "GET", response->status);
    if (response->status != 200) return;
    if (!is_json(response->content_type)) { /* H-13 */
        struct err err;
        err_set(&err, ERR_PARSE, "the server returned content type \"%.100s\" instead of JSON",
                response->content_type);
        enter(call);
        finish(call, &err);
        leave(call);
        return;
    }
    call->stream = call->verb == LW_WATCH ? watch_stream_new(&call->stream_options)
                                          : list_stream_new(&call->stream_options);
    if (!call->sink.opened) return;
    enter(call);
    call->sink.opened(call->ctx);
    leave(call);
}

static bool on_body(void *ctx, const char *data, size_t len)
{
    struct lw_call *call = ctx;
    call->received += len;
    if (!call->stream) {
        /* The body of an error is read to its end, even beyond the limit, so that the connection can be used
         * again. */
        size_t room = ERROR_BODY_MAX - call->error_body.len;
        buf_append(&call->error_body, data, len < room ? len : room);
        return true;
    }
    enter(call);
    bool more = stream_feed(call->stream, data, len, clock_wall_us(call_clock(call)), &call->err);
    if (!more) finish(call, &call->err);
    more = !call->over;
    leave(call);
    return more;
}

static void on_packed(void *ctx)
{
    struct lw_call *call = ctx;
    enter(call);
    if (!call->over && !stream_deliver(call->stream, &call->err)) finish(call, &call->err);
    leave(call);
}

/* Returns the error of a connection that ended. For a watch an EOF between two events is a clean end, with or
 * without HTTP's own end mark; a reset is an error, if only to be logged. */
static const struct err *end_of_stream(struct lw_call *call, const struct err *transport_err)
{
    bool whole = stream_end(call->stream, &call->err);
    if (call->over) return NULL;
    if (!transport_err) return whole ? NULL : &call->err;
    bool eof = transport_err->code == ERR_CLOSED && !transport_err->reason[0];
    if (call->verb == LW_LIST || !eof) return transport_err;
    return whole ? NULL : &call->err;
}

static bool start_exchange(struct lw_call *call);

/* Repeats the request for complete objects, if the server cannot send metadata alone (F-9); the projection
 * then drops the rest. */
static bool retry_with_full_objects(struct lw_call *call, const struct http_response *response)
{
    struct kube_source *source = call->source;
    if (response->status != 406 || !source->metadata_only || source->whole_only) return false;
    /* Remembered for later requests of the source, which would be refused alike. */
    source->whole_only = true;
    call->error_body.len = 0;
    return start_exchange(call);
}

static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct lw_call *call = ctx;
    enter(call);
    call->exchange = NULL;
    if (!response) rest_metrics_result(kube_client_metrics(call->client), "GET", 0);
    if (!response && err) {
        call->err = *err;
        err = &call->err;
        reachability_failed(kube_client_reachability(call->client), &call->err);
    }
    if (call->stream) {
        err = end_of_stream(call, err);
    } else if (!err) {
        if (retry_with_full_objects(call, response)) {
            leave(call);
            return;
        }
        kube_status_error(&call->err, "GET", response->status, response->retry_after_ms,
                          call->error_body.data, call->error_body.len);
        err = &call->err;
    }
    finish(call, err);
    leave(call);
}

static void on_timer(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    enter(call);
    if (call->exchange)
        err_set(&call->err, ERR_TIMEOUT, "the server did not end the watch %d s after its timeout of %d s",
                WATCH_GRACE_MS / 1000, call->timeout_seconds);
    finish(call, &call->err);
    leave(call);
}

static void on_permit(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, permit);
    if (!start_exchange(call)) timer_start(&call->timer, call_clock(call), 0);
}

static struct lw_call *new_call(struct kube_source *source, const struct lw_options *options,
                                const struct lw_sink *sink, void *ctx)
{
    struct lw_call *call = NEW(struct lw_call);
    call->source = source;
    call->client = source->client;
    call->sink = *sink;
    call->ctx = ctx;
    call->verb = options->verb;
    call->timeout_seconds = options->timeout_seconds;
    call->own_connection = options->own_connection;
    call->timer.fn = on_timer;
    call->permit.fn = on_permit;
    call->started_ns = clock_measure_ns();
    call->stream_options = (struct stream_options){
        .packer = source->packer ? source->packer : kube_client_packer(source->client),
        .parser = kube_client_parser(source->client),
        .max_object_size = kube_client_max_object_size(source->client),
        .type = {.api_version = str_of(source->api_version),
                 .kind = str_of(source->resource.kind),
                 .always = source->metadata_only,
                 .projection = source->projection},
        .admits = source->admits,
        .admits_ctx = source->admits_ctx,
        .shard = source->shard,
        .sink = &call->sink,
        .ctx = ctx,
        .packers = source->packer || source->is_odd ? NULL : kube_client_packers(source->client),
        .ready = on_packed,
        .ready_ctx = call,
        .is_odd = &source->is_odd,
    };
    err_clear(&call->err);
    return call;
}

/* Returns the Accept header for metadata alone (F-9); objects have the kind of their resource all the same.
 */
static const char *accept_of(const struct lw_call *call)
{
    if (!call->source->metadata_only || call->source->whole_only) return NULL;
    return call->verb == LW_WATCH
               ? "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
               : "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
}

/* Starts the exchange. --request-timeout limits the time in which nothing of a list is received, so that a
 * long one is not cut off; watches have a timeout of their own (H-11, C-13). */
static bool start_exchange(struct lw_call *call)
{
    bool watch = call->verb == LW_WATCH;
    int64_t quiet_ms = kube_client_request_timeout_ms(call->client);
    const struct http_request request = {
        .method = "GET",
        .url = call->path,
        .first_byte_timeout_ms = watch ? 0 : quiet_ms,
        .idle_timeout_ms = watch          ? 0
                           : quiet_ms > 0 ? quiet_ms
                                          : LIST_IDLE_MS,
        .no_compression = watch, /* an event must not wait in the server's compressor */
        .own_connection = call->own_connection,
    };
    const struct http_callbacks callbacks = {on_response, on_body, on_done, call};
    call->exchange = kube_client_start(call->client, &request, accept_of(call), &callbacks, &call->err);
    if (call->exchange && !watch) rest_metrics_sent(kube_client_metrics(call->client), "GET", 0);
    return call->exchange != NULL;
}

static char *path_of(const struct kube_source *source, const struct lw_options *options)
{
    const struct lw_scope scope = {.namespace_ = source->namespace_,
                                   .label_selector = source->label_selector,
                                   .field_selector = source->field_selector};
    struct buf path = {0}, shard = {0};
    if (source->shard) source->shard->selector(source->shard->ctx, &shard);
    struct lw_options own = *options;
    own.shard_selector = buf_text(&shard);
    list_watch_path(&source->resource, &scope, &own, &path);
    buf_clear(&shard);
    return buf_take(&path);
}

static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct kube_source *source = container_of(base, struct kube_source, base);
    struct lw_call *call = new_call(source, options, sink, ctx);
    call->path = path_of(source, options);
    /* A watch does not wait for the rate limit on its first try, and has no other: the reflector starts the
     * next one (H-2). */
    int64_t wait_ms = call->verb == LW_LIST ? kube_client_throttle(call->client, "GET", call->path) : 0;
    if (wait_ms > 0)
        timer_start(&call->permit, call_clock(call), wait_ms);
    else if (!start_exchange(call))
        timer_start(&call->timer, call_clock(call), 0);
    else if (call->verb == LW_WATCH && options->timeout_seconds > 0)
        timer_start(&call->timer, call_clock(call), options->timeout_seconds * 1000LL + WATCH_GRACE_MS);
    return call;
}

static void on_reachable(struct list_watch *base, void (*fn)(void *ctx), void *ctx)
{
    struct kube_source *source = container_of(base, struct kube_source, base);
    source->waiter = (struct reach_waiter){.fn = fn, .ctx = ctx};
    reachability_add(kube_client_reachability(source->client), &source->waiter);
}

static void note_throttled(struct list_watch *base, int64_t wait_ms)
{
    struct kube_source *source = container_of(base, struct kube_source, base);
    struct throttled *throttled = kube_client_throttled(source->client);
    if (wait_ms < 0) {
        throttled_end(throttled);
        return;
    }
    char *path = path_of(source, &(struct lw_options){.verb = LW_LIST, .resource_version = ""});
    throttled_begin(throttled, "GET", path, wait_ms);
    rest_metrics_retry(kube_client_metrics(source->client), "GET", 429);
    free(path);
}

static void free_source(struct list_watch *base)
{
    struct kube_source *source = container_of(base, struct kube_source, base);
    if (source->waiter.fn) reachability_remove(kube_client_reachability(source->client), &source->waiter);
    resource_clear(&source->resource);
    free(source->namespace_);
    free(source->label_selector);
    free(source->field_selector);
    free(source->api_version);
    projection_unref(source->projection);
    free(source);
}

struct list_watch *list_watch_new(struct kube_client *client, const struct resource *resource,
                                  const struct lw_scope *scope)
{
    static const struct list_watch_ops ops = {start,      cancel,       free_source,
                                              pause_call, on_reachable, note_throttled};
    struct kube_source *source = NEW(struct kube_source);
    struct buf api_version = {0};
    source->base.ops = &ops;
    source->client = client;
    resource_copy(&source->resource, resource);
    resource_api_version(resource, &api_version);
    source->api_version = buf_take(&api_version);
    source->namespace_ = xstrdup(scope->namespace_);
    source->label_selector = xstrdup(scope->label_selector);
    source->field_selector = xstrdup(scope->field_selector);
    source->metadata_only = scope->metadata_only;
    source->packer = scope->packer;
    source->admits = scope->admits;
    source->admits_ctx = scope->admits_ctx;
    source->shard = scope->shard;
    if (scope->projection) source->projection = projection_ref(scope->projection);
    return &source->base;
}
