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
                        void (*pack)(const struct packings *, struct dealt_text *, struct packer *),
                        bool (*again)(struct stream *, struct dealt_text *))
{
    stream->packings.pack = pack;
    stream->packings.ready = on_ready;
    stream->packings.ctx = stream;
    stream->again = again;
    packings_init(&stream->packings, stream->options.packers);
}

static bool goes_on(const struct stream *stream)
{
    return !stream->stopped && stream->err.code == ERR_NONE;
}

/* Delivers one, which is freed before: the sink may stop the stream, but it does not free it. */
static bool deliver(struct stream *stream, struct dealt_text *packing)
{
    const struct stream_options *o = &stream->options;
    int64_t fed_us = stream->received_us;
    stream->received_us = packing->received_us;
    if (!packing->root) {
        stream->is_again = true;
        stream->again(stream, packing);
        stream->is_again = false;
    } else if (packing->type == DEALT_ITEM) {
        o->sink->item(o->ctx, packing->root);
    } else {
        o->sink->event(o->ctx, packing->type, packing->root, packing->received_us);
    }
    packing_free(&stream->packings, packing);
    stream->received_us = fed_us;
    return goes_on(stream);
}

bool stream_deliver_done(struct stream *stream)
{
    struct dealt_text *packing;
    while (goes_on(stream) && (packing = packings_take(&stream->packings)))
        if (!deliver(stream, packing)) return false;
    return goes_on(stream);
}

bool stream_settle(struct stream *stream)
{
    if (!stream_has_packers(stream)) return true;
    while (goes_on(stream) && stream->packings.count > 0) {
        packings_wait(&stream->packings);
        stream_deliver_done(stream);
    }
    return goes_on(stream);
}

/* Lets the packers catch up. */
static bool ease(struct stream *stream)
{
    while (goes_on(stream) && packings_is_full(&stream->packings)) {
        packings_wait(&stream->packings);
        stream_deliver_done(stream);
    }
    return goes_on(stream);
}

/* Gives a text to it, with a line end and room behind its length. */
static void fill(struct stream *stream, struct dealt_text *packing, struct str text)
{
    struct buf *own = &packing->text;
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
    struct packings *packings = &stream->packings;
    struct dealt_text *packing = packings_make(packings);
    size_t at = (size_t)(object.p - text.p);
    fill(stream, packing, text);
    packing->object = (struct str){packing->text.data + at, object.n};
    packing->type = type;
    packing->received_us = stream->received_us;
    packings_deal(packings, packing, pack_group(packing->object));
    if (packings->count >= LOOK_FROM && !stream_deliver_done(stream)) return false;
    return ease(stream);
}
