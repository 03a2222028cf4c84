/* Bytes of a watch or a list body in, objects out: framing, envelope and packing together, without any HTTP.
 * Owner: one thread. The sink's callbacks come from inside stream_feed and stream_end; there they may call
 * stream_stop, but not free the stream. The sink's `done` and `list_end` are not called from here but for
 * what is said below. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/api/list_watch.h"
#include "object/pack/pack.h"

struct stream_options {
    struct packer *packer;      /* this and the parser are borrowed for the stream's life */
    struct tape_parser *parser; /* its tape is used only inside a feed */
    size_t max_object_size;     /* bytes of one object's JSON */
    /* Projection of objects; for lists also the type of items unless the list has it. Borrowed for the
     * stream's life. */
    struct pack_type type;
    const struct lw_sink *sink; /* borrowed for the stream's life */
    void *ctx;
};

struct stream;

extern struct metric metric_objects_refused;

struct stream *watch_stream_new(const struct stream_options *options);
/* Calls the sink's list_end from stream_end, when the body was whole. */
struct stream *list_stream_new(const struct stream_options *options);
void stream_free(struct stream *stream);
/* No callback comes after it. */
void stream_stop(struct stream *stream);
/* False: `err` says what ended the stream, or it was stopped (ERR_NONE). `received_us` is the wall time of
 * these bytes. */
bool stream_feed(struct stream *stream, const char *data, size_t len, int64_t received_us, struct err *err);
/* The bytes ended: ERR_CLOSED when that was in the middle of an object or of the list. */
bool stream_end(struct stream *stream, struct err *err);
