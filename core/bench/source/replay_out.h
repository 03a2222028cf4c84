/* Bytes on their way to a client, as chunks of HTTP, in large writes straight to the socket. Pods are not
 * copied. Owner: whoever writes, one thread at a time. What is borrowed must stay as it is until the flush.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/str.h"

enum { REPLAY_WRITE_SIZE = 256 << 10, REPLAY_PIECES = 512, REPLAY_COPIES = 32 << 10 };

struct replay_out {
    int fd;
    bool broken;    /* the client went away; all that follows is dropped */
    uint64_t bytes; /* handed to the socket */
    struct iovec pieces[REPLAY_PIECES];
    size_t piece_count, pending;
    char copies[REPLAY_COPIES];
    size_t copied;
};

void replay_out_init(struct replay_out *out, int fd);
/* One chunk. `body` is borrowed, the others, which are short, are copied. Written when there is enough of it.
 */
void replay_out_chunk(struct replay_out *out, struct str head, struct str body, struct str tail);
/* Writes what is there; waits for a client that reads slowly. */
void replay_out_flush(struct replay_out *out);
