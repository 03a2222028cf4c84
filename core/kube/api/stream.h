/* Objects from the bytes of a watch or a list body: framing, envelope and packing together, without HTTP.
 * Owner: one thread. The sink's callbacks run inside stream_feed and stream_end; there they may call
 * stream_stop, but not free the stream. The sink's `done` and `list_end` are called only where stated below.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/api/list_watch.h"
#include "kube/api/packers.h"
#include "object/pack/pack.h"

struct stream_options {
    struct packer *packer;      /* this and the parser are borrowed for the stream's life */
    struct tape_parser *parser; /* its tape is used only inside a feed */
    size_t max_object_size;     /* bytes of one object's JSON */
    /* Projection of objects; for lists also the type of items unless the list has it. Borrowed for the
     * stream's life. */
    struct pack_type type;
    bool (*admits)(void *ctx, struct str ns); /* as of lw_scope */
    void *admits_ctx;
    const struct lw_shard *shard; /* as of lw_scope */
    const struct lw_sink *sink;   /* borrowed for the stream's life */
    void *ctx;
    /* Threads that pack most objects, and what is called when some of these wait for stream_deliver; borrowed
     * for the stream's life. NULL: everything is packed inside a feed. */
    struct packers *packers;
    void (*ready)(void *ready_ctx);
    void *ready_ctx;
    bool *is_odd; /* set when a watch's events turn out to be no lines: its next stream should have none */
};

struct stream;

extern struct metric metric_objects_refused;

struct stream *watch_stream_new(const struct stream_options *options);
/* Creates a stream of a list, which calls the sink's list_end from stream_end if the body was complete. */
struct stream *list_stream_new(const struct stream_options *options);
void stream_free(struct stream *stream);
/* Stops the stream; no callback follows. */
void stream_stop(struct stream *stream);
/* Feeds bytes. Returns false if the stream ended: `err` has the reason, or ERR_NONE if it was stopped.
 * `received_us` is the wall time of these bytes. */
bool stream_feed(struct stream *stream, const char *data, size_t len, int64_t received_us, struct err *err);
/* Delivers what the packers have done; returns as stream_feed, which does the same. */
bool stream_deliver(struct stream *stream, struct err *err);
/* Waits for the packers, and delivers the rest. Ends the stream: ERR_CLOSED if inside an object or the list.
 */
bool stream_end(struct stream *stream, struct err *err);
