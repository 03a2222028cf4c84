/* What watches and lists have in common on the way from bytes to objects; see stream.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "kube/api/object_head.h"
#include "kube/api/stream_internal.h"

struct stream *stream_new(const struct stream_options *options, enum frame_form form, size_t max_frame,
                          const struct frame_sink *sink)
{
    struct stream *stream = NEW(struct stream);
    struct frame_sink own = *sink;
    own.ctx = stream;
    stream->options = *options;
    stream->framer = framer_new(form, max_frame, &own);
    err_clear(&stream->err);
    return stream;
}

void stream_free(struct stream *stream)
{
    if (!stream) return;
    framer_free(stream->framer);
    buf_clear(&stream->type_texts);
    free(stream);
}

void stream_stop(struct stream *stream)
{
    stream->stopped = true;
}

static bool refuse(struct stream *stream, const struct err *err, const struct object_head *head)
{
    const struct lw_refusal refusal = {
        .err = err,
        .ns = head->has_key ? head->ns : (struct str){0},
        .name = head->has_key ? head->name : (struct str){0},
        .keyless = head->whole && head->name.n == 0,
        .deleted = str_is(head->event_type, "DELETED"),
    };
    metric_inc(METRIC_OBJECTS_REFUSED);
    stream->options.sink->refused(stream->options.ctx, &refusal);
    return !stream->stopped;
}

bool stream_refuse(struct stream *stream, const struct err *err, struct str text, bool event)
{
    struct object_head head;
    object_head_find(text, event, &head);
    return refuse(stream, err, &head);
}

bool stream_refuse_foreign(struct stream *stream, const struct err *err)
{
    const struct object_head head = {.whole = true};
    return refuse(stream, err, &head);
}

bool stream_refuse_oversize(struct stream *stream, struct str text, bool event, size_t seen)
{
    struct object_head head;
    struct err err;
    struct buf name = {0};
    object_head_find(text, event, &head);
    head.whole = false;
    if (!head.kind.n) head.kind = stream->options.type.kind; /* items of a list do not say it */
    object_head_name(&head, &name);
    err_set(&err, ERR_LIMIT, "%s: %zu bytes of JSON are more than --max-object-size %zu", buf_text(&name),
            seen, stream->options.max_object_size);
    buf_clear(&name);
    return refuse(stream, &err, &head);
}

/* A frame that ended the stream says why in `stream->err`; the framer's own complaint is already in `err`. */
static bool outcome(struct stream *stream, bool ok, struct err *err)
{
    if (ok || stream->stopped || stream->err.code == ERR_NONE) return ok;
    if (err) *err = stream->err;
    return false;
}

bool stream_feed(struct stream *stream, const char *data, size_t len, int64_t received_us, struct err *err)
{
    stream->received_us = received_us;
    return outcome(stream, framer_feed(stream->framer, data, len, err), err);
}

bool stream_end(struct stream *stream, struct err *err)
{
    return outcome(stream, framer_end(stream->framer, err), err);
}
