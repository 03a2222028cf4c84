/* Streams on streams; see filter.h. */
#include "sim/store/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BLOCK = 64 << 10 };

static void filter_free(struct sim_stream *stream)
{
    struct sim_filter *filter = container_of(stream, struct sim_filter, stream);
    filter->inner->free(filter->inner);
    if (filter->clear) filter->clear(filter);
    buf_clear(&filter->in);
    buf_clear(&filter->out);
    free(filter);
}

static ssize_t filter_read(struct sim_stream *stream, char *to, size_t room)
{
    struct sim_filter *filter = container_of(stream, struct sim_filter, stream);
    while (filter->out_at == filter->out.len) {
        filter->out.len = filter->out_at = 0;
        if (filter->ended) return filter->ended;
        ssize_t n = filter->inner->read(filter->inner, buf_reserve(&filter->in, BLOCK), BLOCK);
        if (n == SIM_STREAM_LATER) return n;
        if (n < 0)
            filter->ended = n;
        else
            filter->in.len += (size_t)n;
        filter->turn(filter);
    }
    size_t n = filter->out.len - filter->out_at;
    if (n > room) n = room;
    memcpy(to, filter->out.data + filter->out_at, n);
    filter->out_at += n;
    return (ssize_t)n;
}

void sim_filter_init(struct sim_filter *filter, struct sim_stream *inner,
                     void (*turn)(struct sim_filter *filter), void (*clear)(struct sim_filter *filter))
{
    *filter = (struct sim_filter){
        .stream = {filter_read, filter_free}, .inner = inner, .turn = turn, .clear = clear};
}
