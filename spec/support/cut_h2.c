/* See cut_h2.h. */
#include "support/cut_h2.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <nghttp2/nghttp2.h>

#include "base/mem.h"
#include "base/must.h"

enum { FIELDS_MAX = 16 };

/* One request, from its first header to the end of the connection. */
struct stream {
    struct cut_h2 *h2;
    char *method, *path;
    const struct cut_answer *answer;
    size_t piece; /* the next one */
    LIST_ENTRY(stream) link;
};

struct cut_h2 {
    struct tiny_conn *conn;
    nghttp2_session *session;
    void (*request)(void *ctx, struct cut_h2 *h2, int stream, const char *method, const char *path);
    void *ctx;
    bool inside, ended;
    LIST_HEAD(, stream) streams;
};

/* --- in */

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct stream *stream = NEW(struct stream);
    stream->h2 = ctx;
    LIST_INSERT_HEAD(&stream->h2->streams, stream, link);
    return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags, void *ctx)
{
    struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    struct str key = {(const char *)name, name_len};
    if (str_is(key, ":method")) stream->method = xstrndup((const char *)value, value_len);
    if (str_is(key, ":path")) stream->path = xstrndup((const char *)value, value_len);
    return 0;
}

static void take_output(struct cut_h2 *h2, struct buf *out)
{
    const uint8_t *data;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(h2->session, &data)) > 0) buf_append(out, data, (size_t)n);
    must(n == 0);
}

/* What is no answer: settings, windows, pings. */
static void send_own(struct cut_h2 *h2)
{
    struct buf out = {0};
    take_output(h2, &out);
    tiny_send(h2->conn, out.data, out.len);
    buf_clear(&out);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct cut_h2 *h2 = ctx;
    bool whole = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (!whole || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) return 0;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    send_own(h2);
    if (stream && !h2->ended) h2->request(h2->ctx, h2, frame->hd.stream_id, stream->method, stream->path);
    return 0;
}

struct cut_h2 *cut_h2_new(struct tiny_conn *conn,
                          void (*request)(void *ctx, struct cut_h2 *h2, int stream, const char *method,
                                          const char *path),
                          void *ctx)
{
    struct cut_h2 *h2 = NEW(struct cut_h2);
    nghttp2_session_callbacks *callbacks;
    h2->conn = conn;
    h2->request = request;
    h2->ctx = ctx;
    LIST_INIT(&h2->streams);
    must(nghttp2_session_callbacks_new(&callbacks) == 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    must(nghttp2_session_server_new(&h2->session, callbacks, h2) == 0);
    nghttp2_session_callbacks_del(callbacks);
    must(nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, NULL, 0) == 0);
    return h2;
}

static void free_h2(struct cut_h2 *h2)
{
    struct stream *stream;
    while ((stream = LIST_FIRST(&h2->streams))) {
        LIST_REMOVE(stream, link);
        free(stream->method);
        free(stream->path);
        free(stream);
    }
    nghttp2_session_del(h2->session);
    free(h2);
}

void cut_h2_end(struct cut_h2 *h2)
{
    h2->ended = true;
    if (!h2->inside) free_h2(h2);
}

struct tiny_conn *cut_h2_conn(const struct cut_h2 *h2)
{
    return h2->conn;
}

void cut_h2_feed(struct cut_h2 *h2, struct str data)
{
    h2->inside = true;
    ssize_t n = nghttp2_session_mem_recv(h2->session, (const uint8_t *)data.p, data.n);
    if (!h2->ended && n < 0) tiny_reset(h2->conn);
    if (!h2->ended) send_own(h2);
    h2->inside = false;
    if (h2->ended) free_h2(h2);
}

/* --- out */

/* "Name: value\r\n" lines as fields; `copy` holds what they point at. */
static size_t read_fields(const char *lines, char *copy, nghttp2_nv *fields, size_t count)
{
    strcpy(copy, lines ? lines : "");
    for (char *line = copy, *next; *line; line = next) {
        char *colon = strstr(line, ": "), *line_end = strstr(line, "\r\n");
        must(colon && line_end && count < FIELDS_MAX);
        next = line_end + 2;
        *colon = *line_end = '\0';
        for (char *c = line; c < colon; c++) *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
        fields[count++] = (nghttp2_nv){(uint8_t *)line, (uint8_t *)colon + 2, (size_t)(colon - line),
                                       (size_t)(line_end - colon - 2), NGHTTP2_NV_FLAG_NONE};
    }
    return count;
}

static void submit_trailers(struct stream *stream, int32_t id)
{
    nghttp2_nv fields[FIELDS_MAX];
    char copy[512];
    size_t count = read_fields(stream->answer->trailers, copy, fields, 0);
    must(nghttp2_submit_trailer(stream->h2->session, id, fields, count) == 0);
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *out, size_t room, uint32_t *flags,
                         nghttp2_data_source *source, void *ctx)
{
    struct stream *stream = source->ptr;
    const char *const *pieces = stream->answer->pieces;
    const char *piece = pieces ? pieces[stream->piece] : NULL;
    if (!piece && stream->answer->stays) return NGHTTP2_ERR_DEFERRED;
    size_t n = piece ? strlen(piece) : 0;
    must(n <= room);
    if (piece) {
        memcpy(out, piece, n);
        stream->piece++;
        return (ssize_t)n;
    }
    *flags = NGHTTP2_DATA_FLAG_EOF;
    if (!stream->answer->trailers) return 0;
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    submit_trailers(stream, id);
    return 0;
}

void cut_h2_answer(struct cut_h2 *h2, int id, const struct cut_answer *answer, struct buf *out)
{
    struct stream *stream = nghttp2_session_get_stream_user_data(h2->session, id);
    nghttp2_nv fields[FIELDS_MAX];
    char status[16], copy[512];
    snprintf(status, sizeof status, "%d", answer->status);
    fields[0] = (nghttp2_nv){(uint8_t *)":status", (uint8_t *)status, 7, strlen(status), 0};
    size_t count = read_fields(answer->headers, copy, fields, 1);
    stream->answer = answer;
    bool body = answer->pieces || answer->stays || answer->trailers;
    const nghttp2_data_provider provider = {.source = {.ptr = stream}, .read_callback = read_body};
    must(nghttp2_submit_response(h2->session, id, fields, count, body ? &provider : NULL) == 0);
    take_output(h2, out);
}

void cut_h2_reset_stream(struct cut_h2 *h2, int id, unsigned code, struct buf *out)
{
    must(nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, id, code) == 0);
    take_output(h2, out);
}

void cut_h2_go_away(struct cut_h2 *h2, unsigned code, struct buf *out)
{
    must(nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE, 0, code, NULL, 0) == 0);
    take_output(h2, out);
}
