/* HTTP/2 of a server for units, by nghttp2: requests in, the bytes of answers out, which nobody sends but the
 * caller. Owner: one for each connection; cut_h2_end frees it. For cut_server.c. */
#pragma once
#include "base/buf.h"
#include "support/cut_server.h"

struct cut_h2;

/* Its settings go over `conn` with the first bytes that are fed. `request` comes from inside cut_h2_feed; it
 * may close the connection. */
struct cut_h2 *cut_h2_new(struct tiny_conn *conn,
                          void (*request)(void *ctx, struct cut_h2 *h2, int stream, const char *method,
                                          const char *path),
                          void *ctx);
/* The connection is gone. Also from inside `request`. */
void cut_h2_end(struct cut_h2 *h2);
struct tiny_conn *cut_h2_conn(const struct cut_h2 *h2);
void cut_h2_feed(struct cut_h2 *h2, struct str data);
/* Append the frames. The answer is borrowed until the connection is gone. */
void cut_h2_answer(struct cut_h2 *h2, int stream, const struct cut_answer *answer, struct buf *out);
void cut_h2_reset_stream(struct cut_h2 *h2, int stream, unsigned code, struct buf *out);
void cut_h2_go_away(struct cut_h2 *h2, unsigned code, struct buf *out);
