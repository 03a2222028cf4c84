/* Streams that turn what another one gives into something else. Owner: a filter takes the other stream, and
 * is freed as a stream is. Called on the connection's thread. */
#pragma once
#include "sim/store/request.h"

struct sim_filter {
    struct sim_stream stream; /* what it is to its reader */
    struct sim_stream *inner;
    struct buf in;  /* read, and still to be turned */
    struct buf out; /* turned */
    size_t out_at;  /* bytes of it that were passed on */
    ssize_t ended;  /* what the inner stream ended with; 0 before */
    /* Turns what it can of `in`; called after each read, and at the end. */
    void (*turn)(struct sim_filter *filter);
    void (*clear)(struct sim_filter *filter); /* frees what a user has beside; may be NULL */
};

/* Fills a filter, whose memory is given to it. */
void sim_filter_init(struct sim_filter *filter, struct sim_stream *inner,
                     void (*turn)(struct sim_filter *filter), void (*clear)(struct sim_filter *filter));
