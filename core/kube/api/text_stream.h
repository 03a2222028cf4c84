/* One GET whose response is a text that grows: the log of a container that is followed. It is asked for once;
 * who wants it again starts another. Owner: the I/O thread. The sink is called on that thread, never from
 * inside the start; it may pause and cancel the stream. */
#pragma once
#include "base/err.h"
#include "kube/api/client.h"

struct text_sink {
    void (*data)(void *ctx, const char *data, size_t len);
    /* The last call: the server has ended the text, or the error. `err` is borrowed; NULL: a good end. */
    void (*done)(void *ctx, const struct err *err);
};

struct text_stream;

/* Way to the server for callers without its client: the functions below, or those of a test. */
struct text_caller {
    struct text_stream *(*start)(void *ctx, const char *path, const struct text_sink *sink, void *sink_ctx);
    void (*pause)(struct text_stream *stream, bool paused);
    void (*cancel)(struct text_stream *stream);
    void *ctx;
};

/* `path` has its query and is escaped; it is copied, the sink borrowed. A text of which nothing comes for a
 * long time is no error. */
struct text_stream *text_stream_start(struct kube_client *client, const char *path,
                                      const struct text_sink *sink, void *ctx);
/* Pauses or resumes reading from the network; the connection is not shared. */
void text_stream_pause(struct text_stream *stream, bool paused);
/* Cancels the stream; no callback follows. NULL is allowed. */
void text_stream_cancel(struct text_stream *stream);
