/* Answers as bytes, and where they are broken off; see cut_server.h. */
#include "support/cut_server.h"

#include <stdio.h>
#include <stdlib.h>

#include <nghttp2/nghttp2.h>

#include "base/mem.h"
#include "support/cut_h2.h"

enum cut_what { CUT_NOTHING, CUT_BYTES, CUT_RST_STREAM, CUT_GOAWAY };

struct cut_server {
    struct cut_server_options options;
    struct ssl_ctx_st *tls;
    struct tiny_server *tiny;
    char *url;
    enum cut_what what;
    unsigned skip, code;
    size_t at, length, requests;
    enum cut_way way;
    bool armed, has_cut;
};

static void write_http1(const struct cut_answer *answer, struct buf *out)
{
    if (answer->raw) {
        buf_puts(out, answer->raw);
        return;
    }
    buf_printf(out, "HTTP/1.1 %d Text\r\n%sTransfer-Encoding: chunked\r\n\r\n", answer->status,
               answer->headers ? answer->headers : "");
    for (const char *const *piece = answer->pieces; piece && *piece; piece++)
        buf_printf(out, "%zx\r\n%s\r\n", strlen(*piece), *piece);
    if (!answer->stays) buf_printf(out, "0\r\n%s\r\n", answer->trailers ? answer->trailers : "");
}

static void end(struct tiny_conn *conn, enum cut_way way)
{
    if (way == CUT_END)
        tiny_close(conn);
    else if (way == CUT_DROP)
        tiny_drop(conn);
    else
        tiny_reset(conn);
}

/* Whether it is this one's turn to be broken off. */
static bool is_due(struct cut_server *server)
{
    server->requests++;
    if (!server->armed || server->skip-- > 0) return false;
    server->armed = false;
    return true;
}

static void send_answer(struct cut_server *server, struct tiny_conn *conn, bool due, const struct buf *bytes)
{
    if (due) server->length = bytes->len;
    server->has_cut |= due && server->at < bytes->len;
    tiny_send(conn, bytes->data, due && server->at < bytes->len ? server->at : bytes->len);
    if (due && server->at < bytes->len) end(conn, server->way);
}

static void on_request(void *ctx, struct tiny_conn *conn, struct str head, struct str body)
{
    struct cut_server *server = ctx;
    char method[16], path[1024];
    char *text = xstrndup(head.p, head.n);
    struct buf bytes = {0};
    if (sscanf(text, "%15s %1023s", method, path) == 2) {
        const struct cut_answer *answer = server->options.answer(server->options.ctx, method, path);
        write_http1(answer, &bytes);
        send_answer(server, conn, is_due(server), &bytes);
        if (answer->closes) tiny_close(conn);
    }
    free(text);
    buf_clear(&bytes);
}

static void on_stream(void *ctx, struct cut_h2 *h2, int stream, const char *method, const char *path)
{
    struct cut_server *server = ctx;
    const struct cut_answer *answer = server->options.answer(server->options.ctx, method, path);
    struct buf bytes = {0};
    bool due = is_due(server);
    if (due && server->what == CUT_RST_STREAM)
        cut_h2_reset_stream(h2, stream, server->code, &bytes);
    else if (due && server->what == CUT_GOAWAY)
        cut_h2_go_away(h2, server->code, &bytes);
    else
        cut_h2_answer(h2, stream, answer, &bytes);
    send_answer(server, cut_h2_conn(h2), due, &bytes);
    server->has_cut |= due && server->what != CUT_BYTES;
    if (due && server->what == CUT_GOAWAY) tiny_close(cut_h2_conn(h2));
    buf_clear(&bytes);
}

static size_t on_bytes(void *ctx, struct tiny_conn *conn, struct str data)
{
    struct cut_server *server = ctx;
    if (!tiny_data(conn)) tiny_set_data(conn, cut_h2_new(conn, on_stream, server));
    cut_h2_feed(tiny_data(conn), data);
    return data.n;
}

static void on_forget(void *ctx, void *h2)
{
    cut_h2_end(h2);
}

struct cut_server *cut_server_new(const struct cut_server_options *options)
{
    struct cut_server *server = NEW(struct cut_server);
    server->options = *options;
    bool h2 = options->wire == WIRE_H2, tls = options->wire != WIRE_PLAIN;
    if (tls) server->tls = tls_server_context(options->leaf, NULL);
    if (h2) tls_only_h2(server->tls);
    const struct tiny_handler handler = {
        .request = on_request, .bytes = h2 ? on_bytes : NULL, .forget = on_forget, .ctx = server};
    server->tiny = tiny_server_new(options->loop, server->tls, &handler);
    server->url = xasprintf("http%s://127.0.0.1:%d", tls ? "s" : "", tiny_server_port(server->tiny));
    return server;
}

void cut_server_free(struct cut_server *server)
{
    tiny_server_free(server->tiny);
    tls_server_context_free(server->tls);
    free(server->url);
    free(server);
}

const char *cut_server_url(const struct cut_server *server)
{
    return server->url;
}

static void arm(struct cut_server *server, enum cut_what what)
{
    server->what = what;
    server->armed = true;
    server->has_cut = false;
    server->length = server->requests = server->skip = 0;
    server->at = SIZE_MAX;
}

void cut_server_arm(struct cut_server *server, unsigned skip, size_t at, enum cut_way way)
{
    arm(server, CUT_BYTES);
    server->skip = skip;
    server->at = at;
    server->way = way;
}

void cut_server_arm_reset(struct cut_server *server, unsigned code)
{
    arm(server, CUT_RST_STREAM);
    server->code = code;
}

void cut_server_arm_goaway(struct cut_server *server, unsigned code)
{
    arm(server, CUT_GOAWAY);
    server->code = code;
}

bool cut_server_has_cut(const struct cut_server *server)
{
    return server->has_cut;
}

bool cut_server_is_armed(const struct cut_server *server)
{
    return server->armed;
}

size_t cut_each(struct cut_server *server, unsigned skip, void (*run)(void *ctx), void *ctx)
{
    size_t cuts = 0;
    do {
        cut_server_arm(server, skip, cuts * CUT_STEP, (enum cut_way)(cuts % CUT_WAYS));
        run(ctx);
        cuts += server->has_cut;
    } while (server->has_cut);
    return cuts * CUT_STEP;
}

size_t cut_server_length(const struct cut_server *server)
{
    return server->length;
}

size_t cut_server_requests(const struct cut_server *server)
{
    return server->requests;
}

const char *cut_wire_name(enum cut_wire wire)
{
    static const char *const names[] = {"HTTP/1.1", "HTTP/1.1 over TLS", "HTTP/2"};
    return names[wire];
}

const char *cut_way_name(enum cut_way way)
{
    static const char *const names[] = {"closed in good order", "closed without a word", "reset"};
    return names[way];
}
