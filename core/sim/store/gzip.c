/* Compression on the fly; see gzip.h. */
#include "sim/store/gzip.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/mem.h"
#include "base/must.h"

enum { GZIP_LEVEL = 1, GZIP_WINDOW = 15 + 16, BLOCK = 256 << 10 }; /* + 16: with the header of gzip */

struct gzip {
    struct sim_stream stream;
    struct sim_stream *inner;
    struct buf in;  /* read and not yet compressed */
    struct buf out; /* compressed */
    size_t out_at;  /* bytes of it that were passed on */
    ssize_t ended;  /* what the inner stream ended with, 0 before */
    z_stream z;
};

static void gzip_free(struct sim_stream *stream)
{
    struct gzip *gzip = container_of(stream, struct gzip, stream);
    deflateEnd(&gzip->z);
    gzip->inner->free(gzip->inner);
    buf_clear(&gzip->in);
    buf_clear(&gzip->out);
    free(gzip);
}

/* Returns the flush mode. A stream that breaks still delivers its data, so that the client receives the same
 * partial response. */
static int flush_of(const struct gzip *gzip)
{
    if (!gzip->ended) return Z_NO_FLUSH;
    return gzip->ended == SIM_STREAM_END ? Z_FINISH : Z_SYNC_FLUSH;
}

/* Compresses all of what was read. */
static void pack(struct gzip *gzip)
{
    gzip->z.next_in = (unsigned char *)gzip->in.data;
    gzip->z.avail_in = (unsigned)gzip->in.len;
    gzip->out.len = gzip->out_at = 0;
    do {
        gzip->z.next_out = (unsigned char *)buf_reserve(&gzip->out, BLOCK);
        gzip->z.avail_out = BLOCK;
        int rc = deflate(&gzip->z, flush_of(gzip));
        must(rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR);
        gzip->out.len += BLOCK - gzip->z.avail_out;
    } while (gzip->z.avail_out == 0);
    gzip->in.len = 0;
}

static void read_more(struct gzip *gzip)
{
    ssize_t n = gzip->inner->read(gzip->inner, buf_reserve(&gzip->in, BLOCK), BLOCK);
    if (n < 0)
        gzip->ended = n;
    else
        gzip->in.len = (size_t)n;
}

static ssize_t gzip_read(struct sim_stream *stream, char *to, size_t room)
{
    struct gzip *gzip = container_of(stream, struct gzip, stream);
    while (gzip->out_at == gzip->out.len && !gzip->ended) {
        if (gzip->in.len == 0) read_more(gzip);
        pack(gzip);
    }
    size_t n = gzip->out.len - gzip->out_at;
    if (n == 0) return gzip->ended;
    if (n > room) n = room;
    memcpy(to, gzip->out.data + gzip->out_at, n);
    gzip->out_at += n;
    return (ssize_t)n;
}

static void start(z_stream *z)
{
    must(deflateInit2(z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK);
}

struct sim_stream *sim_gzip(struct sim_stream *inner, struct buf *head)
{
    struct gzip *gzip = NEW(struct gzip);
    gzip->stream = (struct sim_stream){gzip_read, gzip_free};
    gzip->inner = inner;
    gzip->in = *head;
    *head = (struct buf){0};
    start(&gzip->z);
    return &gzip->stream;
}

void sim_gzip_text(struct buf *text)
{
    z_stream z = {0};
    struct buf out = {0};
    start(&z);
    size_t room = deflateBound(&z, text->len);
    z.next_in = (unsigned char *)text->data;
    z.avail_in = (unsigned)text->len;
    z.next_out = (unsigned char *)buf_reserve(&out, room);
    z.avail_out = (unsigned)room;
    must(deflate(&z, Z_FINISH) == Z_STREAM_END);
    out.len = room - z.avail_out;
    deflateEnd(&z);
    buf_clear(text);
    *text = out;
}
