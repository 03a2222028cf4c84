/* Responses on their way to the library; see web_send.h. */
#include "net/server/web_send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/civil.h"
#include "base/mem.h"

/* The library asks libc for it, under a lock that a child of an audit would find held for ever. */
static void add_date(struct MHD_Response *mhd)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char text[64];
    struct civil now = civil_at(time(NULL));
    snprintf(text, sizeof text, "%s, %02d %s %04lld %02d:%02d:%02d GMT", days[now.weekday], now.day,
             months[now.month - 1], (long long)now.year, now.hour, now.minute, now.second);
    MHD_add_response_header(mhd, MHD_HTTP_HEADER_DATE, text);
}

/* --- a body in pieces, none of which is longer than one call of `more` makes it */

struct pieces {
    bool (*more)(void *ctx, struct buf *out);
    void *ctx;
    struct buf piece;
    size_t sent; /* of it */
    bool is_last;
};

static ssize_t read_pieces(void *cls, uint64_t position, char *out, size_t max)
{
    struct pieces *p = cls;
    while (p->sent == p->piece.len) {
        if (p->is_last) return MHD_CONTENT_READER_END_OF_STREAM;
        p->sent = p->piece.len = 0;
        p->is_last = !p->more(p->ctx, &p->piece);
    }
    size_t n = p->piece.len - p->sent < max ? p->piece.len - p->sent : max;
    memcpy(out, p->piece.data + p->sent, n);
    p->sent += n;
    return (ssize_t)n;
}

static void free_pieces(void *cls)
{
    struct pieces *p = cls;
    buf_clear(&p->piece);
    free(p->ctx);
    free(p);
}

static struct MHD_Response *body_of(struct web_response *response)
{
    enum { BLOCK = 16 << 10 };
    size_t len = response->body.len;
    if (!response->more)
        return MHD_create_response_from_buffer_with_free_callback(len, buf_take(&response->body), free);
    struct pieces *p = NEW(struct pieces);
    p->more = response->more;
    p->ctx = response->more_ctx;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_pieces, p, free_pieces);
}

/* Returns whether the other headers have it; `name` ends with the colon. */
static bool has_header(const struct web_response *response, struct str name)
{
    struct str lines = buf_slice(&response->headers), line;
    while (str_cut(&lines, '\n', &line))
        if (line.n >= name.n && strncasecmp(line.p, name.p, name.n) == 0) return true;
    return false;
}

static void add_headers(struct MHD_Response *mhd, const struct web_response *response)
{
    struct str lines = buf_slice(&response->headers), line;
    while (str_cut(&lines, '\n', &line)) {
        const char *colon = memchr(line.p, ':', line.n);
        if (!colon) continue;
        char *name = xstrndup(line.p, line.n);
        name[colon - line.p] = '\0';
        MHD_add_response_header(mhd, name, name + (colon - line.p) + 2);
        free(name);
    }
}

static void add_number(struct MHD_Response *mhd, const char *name, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    MHD_add_response_header(mhd, name, text);
}

enum MHD_Result web_send(struct MHD_Connection *connection, struct web_response *response)
{
    struct MHD_Response *mhd = body_of(response);
    if (response->content_type && !has_header(response, STR("Content-Type:")))
        MHD_add_response_header(mhd, MHD_HTTP_HEADER_CONTENT_TYPE, response->content_type);
    add_date(mhd);
    MHD_add_response_header(mhd, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    MHD_add_response_header(mhd, "X-Content-Type-Options", "nosniff");
    if (response->is_page) {
        MHD_add_response_header(
            mhd, "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
        MHD_add_response_header(mhd, "Referrer-Policy", "no-referrer");
        MHD_add_response_header(mhd, "Cross-Origin-Resource-Policy", "same-origin");
    }
    if (response->status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(mhd, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (response->status == MHD_HTTP_METHOD_NOT_ALLOWED && !has_header(response, STR("Allow:")))
        MHD_add_response_header(mhd, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (response->retry_after_s) add_number(mhd, MHD_HTTP_HEADER_RETRY_AFTER, response->retry_after_s);
    if (response->closes) MHD_add_response_header(mhd, MHD_HTTP_HEADER_CONNECTION, "close");
    add_headers(mhd, response);
    enum MHD_Result queued = MHD_queue_response(connection, (unsigned)response->status, mhd);
    MHD_destroy_response(mhd);
    return queued;
}
