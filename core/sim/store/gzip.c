/* Compression on the fly; see gzip.h. */
#include "sim/store/gzip.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "sim/store/filter.h"

enum { GZIP_LEVEL = 1, GZIP_WINDOW = 15 + 16, BLOCK = 64 << 10 }; /* + 16: with the header of gzip */

struct gzip {
    struct sim_filter filter; /* first: it is what is freed */
    z_stream z;
};

static void end(struct sim_filter *filter)
{
    deflateEnd(&container_of(filter, struct gzip, filter)->z);
}

/* Returns the flush mode. A stream that breaks still delivers its data, so that the client receives the same
 * partial response. */
static int flush_of(const struct sim_filter *filter)
{
    if (!filter->ended) return Z_NO_FLUSH;
    return filter->ended == SIM_STREAM_END ? Z_FINISH : Z_SYNC_FLUSH;
}

/* Compresses all of what was read. */
static void pack(struct sim_filter *filter)
{
    z_stream *z = &container_of(filter, struct gzip, filter)->z;
    z->next_in = (unsigned char *)filter->in.data;
    z->avail_in = (unsigned)filter->in.len;
    do {
        z->next_out = (unsigned char *)buf_reserve(&filter->out, BLOCK);
        z->avail_out = BLOCK;
        int rc = deflate(z, flush_of(filter));
        must(rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR);
        filter->out.len += BLOCK - z->avail_out;
    } while (z->avail_out == 0);
    filter->in.len = 0;
}

static void start(z_stream *z)
{
    must(deflateInit2(z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK);
}

struct sim_stream *sim_gzip(struct sim_stream *inner, struct buf *head)
{
    struct gzip *gzip = NEW(struct gzip);
    sim_filter_init(&gzip->filter, inner, pack, end);
    gzip->filter.in = *head;
    *head = (struct buf){0};
    start(&gzip->z);
    pack(&gzip->filter);
    return &gzip->filter.stream;
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
