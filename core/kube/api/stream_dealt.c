/* Texts of a stream that threads of their own pack: dealt, and delivered in their order; see
 * stream_internal.h. */
#include <string.h>

#include "kube/api/stream_internal.h"

enum { LOOK_FROM = 16 }; /* texts under way from which the stream looks at each one whether some are done */

static void on_ready(void *ctx)
{
    struct stream *stream = ctx;
    stream->options.ready(stream->options.ready_ctx);
}

void stream_use_packers(struct stream *stream,
                        void (*pack)(const struct pack_queue *, struct pack_job *, struct packer *),
                        bool (*again)(struct stream *, struct pack_job *))
{
    stream->jobs.pack = pack;
    stream->jobs.ready = on_ready;
    stream->jobs.ctx = stream;
    stream->again = again;
    pack_queue_init(&stream->jobs, stream->options.packers);
}

static bool goes_on(const struct stream *stream)
{
    return !stream->stopped && stream->err.code == ERR_NONE;
}

/* Delivers one, which is freed before: the sink may stop the stream, but it does not free it. */
static bool deliver(struct stream *stream, struct pack_job *job)
{
    const struct stream_options *o = &stream->options;
    int64_t fed_us = stream->received_us;
    stream->received_us = job->received_us;
    if (!job->root) {
        stream->is_again = true;
        stream->again(stream, job);
        stream->is_again = false;
    } else if (job->type == DEALT_ITEM) {
        o->sink->item(o->ctx, job->root);
    } else {
        o->sink->event(o->ctx, job->type, job->root, job->received_us);
    }
    pack_job_free(&stream->jobs, job);
    stream->received_us = fed_us;
    return goes_on(stream);
}

bool stream_deliver_done(struct stream *stream)
{
    struct pack_job *job;
    while (goes_on(stream) && (job = pack_queue_take(&stream->jobs)))
        if (!deliver(stream, job)) return false;
    return goes_on(stream);
}

bool stream_settle(struct stream *stream)
{
    if (!stream_has_packers(stream)) return true;
    while (goes_on(stream) && stream->jobs.count > 0) {
        pack_queue_wait(&stream->jobs);
        stream_deliver_done(stream);
    }
    return goes_on(stream);
}

/* Lets the packers catch up. */
static bool ease(struct stream *stream)
{
    while (goes_on(stream) && pack_queue_is_full(&stream->jobs)) {
        pack_queue_wait(&stream->jobs);
        stream_deliver_done(stream);
    }
    return goes_on(stream);
}

/* Gives a text to it, with a line end and room behind its length. */
static void fill(struct stream *stream, struct pack_job *job, struct str text)
{
    struct buf *own = &job->text;
    if (!framer_swap(stream->framer, text.p, own)) {
        own->len = 0;
        buf_reserve(own, text.n + TAPE_PADDING);
        buf_str(own, text);
    }
    own->len = text.n;
    memset(buf_reserve(own, TAPE_PADDING), '\n', TAPE_PADDING);
}

bool stream_deal(struct stream *stream, struct str text, struct str object, unsigned type)
{
    struct pack_queue *queue = &stream->jobs;
    struct pack_job *job = pack_queue_make(queue);
    size_t at = (size_t)(object.p - text.p);
    fill(stream, job, text);
    job->object = (struct str){job->text.data + at, object.n};
    job->type = type;
    job->received_us = stream->received_us;
    pack_queue_deal(queue, job, pack_group(job->object));
    if (queue->count >= LOOK_FROM && !stream_deliver_done(stream)) return false;
    return ease(stream);
}
