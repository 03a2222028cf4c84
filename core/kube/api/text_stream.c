/* A text as it comes; see text_stream.h. */
#include "kube/api/text_stream.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

enum {
    ERROR_BODY_MAX = 64 << 10,
    FIRST_BYTE_MS =
        24 * 60 * 60 * 1000, /* a server sends no head before the container has written something */
};

struct text_stream {
    struct kube_client *client;
    const struct text_sink *sink;
    void *ctx;
    struct http_exchange *exchange; /* NULL if none is in flight */
    struct timer late;              /* reports a request that could not start */
    bool is_error;
    struct buf error_body;
    struct err err; /* ERR_NONE: none yet */
    int64_t started_ns;
};

/* The sink may cancel other streams, but this one is gone for it. */
static void finish(struct text_stream *stream)
{
    const struct text_sink *sink = stream->sink;
    void *ctx = stream->ctx;
    struct err err = stream->err;
    rest_metrics_done(kube_client_metrics(stream->client), "GET", stream->started_ns);
    text_stream_cancel(stream);
    sink->done(ctx, err.code == ERR_NONE ? NULL : &err);
}

static void on_response(void *ctx, const struct http_response *response)
{
    struct text_stream *stream = ctx;
    stream->is_error = response->status / 100 != 2;
}

static bool on_body(void *ctx, const char *data, size_t len)
{
    struct text_stream *stream = ctx;
    if (!stream->is_error) {
        stream->sink->data(stream->ctx, data, len);
        return true;
    }
    size_t room = ERROR_BODY_MAX - stream->error_body.len;
    buf_append(&stream->error_body, data, len < room ? len : room);
    return len < room;
}

static void on_done(void *ctx, const struct http_response *response, const struct err *err)
{
    struct text_stream *stream = ctx;
    stream->exchange = NULL;
    rest_metrics_result(kube_client_metrics(stream->client), "GET", response ? response->status : 0);
    if (err) stream->err = *err;
    if (!response) reachability_failed(kube_client_reachability(stream->client), &stream->err);
    if (response && stream->is_error) /* whose body may have been cut off */
        kube_status_error(&stream->err, "GET", response->status, response->retry_after_ms,
                          stream->error_body.data, stream->error_body.len);
    finish(stream);
}

static void on_late(struct timer *timer)
{
    finish(container_of(timer, struct text_stream, late));
}

struct text_stream *text_stream_start(struct kube_client *client, const char *path,
                                      const struct text_sink *sink, void *ctx)
{
    const struct http_request request = {
        .method = "GET",
        .url = path,
        .first_byte_timeout_ms = FIRST_BYTE_MS,
        .no_compression = true,
        .own_connection = true,
    };
    struct text_stream *stream = NEW(struct text_stream);
    *stream = (struct text_stream){
        .client = client, .sink = sink, .ctx = ctx, .late.fn = on_late, .started_ns = clock_measure_ns()};
    err_clear(&stream->err);
    const struct http_callbacks callbacks = {
        .on_response = on_response, .on_body = on_body, .on_done = on_done, .ctx = stream};
    stream->exchange = kube_client_start(client, &request, NULL, &callbacks, &stream->err);
    if (!stream->exchange) timer_start(&stream->late, loop_clock(kube_client_loop(client)), 0);
    return stream;
}

void text_stream_pause(struct text_stream *stream, bool paused)
{
    if (stream->exchange) http_pause(stream->exchange, paused);
}

void text_stream_cancel(struct text_stream *stream)
{
    if (!stream) return;
    if (stream->exchange) http_cancel(stream->exchange);
    timer_cancel(&stream->late);
    buf_clear(&stream->error_body);
    free(stream);
}
