/* Compression of large responses, as in a real server from 128 KiB on. Owner: the stream takes the one that
 * it wraps. Called on the connection's thread. */
#pragma once
#include "sim/store/request.h"

enum { SIM_GZIP_MIN = 128 << 10 };

/* `head` is what was read from `inner` already; taken. */
struct sim_stream *sim_gzip(struct sim_stream *inner, struct buf *head);
/* Compresses all of `text` in place. */
void sim_gzip_text(struct buf *text);
