/* Frames out of a stream of bytes: what both forms share; see frame.h. */
#include "kube/api/frame.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/api/frame_internal.h"
#include "object/parse/tape.h"

struct framer *framer_new(enum frame_form form, size_t max_frame, const struct frame_sink *sink)
{
    struct framer *framer = NEW(struct framer);
    framer->form = form;
    framer->max_frame = max_frame;
    framer->sink = *sink;
    return framer;
}

void framer_free(struct framer *framer)
{
    if (!framer) return;
    buf_clear(&framer->pending);
    buf_clear(&framer->envelope);
    free(framer);
}

void frame_keep(struct framer *framer, const char *data, size_t len)
{
    struct buf *pending = &framer->pending;
    framer->seen += len;
    if (framer->seen <= framer->max_frame) {
        buf_append(pending, data, len);
        return;
    }
    if (pending->len > FRAME_HEAD_MAX) { /* it just grew too large: only its head stays in memory */
        struct buf head = {0};
        buf_append(&head, pending->data, FRAME_HEAD_MAX);
        buf_clear(pending);
        *pending = head;
    }
    size_t room = FRAME_HEAD_MAX - pending->len;
    buf_append(pending, data, len < room ? len : room);
}

static bool give(struct framer *framer, const char *text, size_t len)
{
    return !framer->sink.frame || framer->sink.frame(framer->sink.ctx, text, len);
}

static bool give_oversize(struct framer *framer, const char *head, size_t head_len, size_t seen)
{
    return !framer->sink.oversize || framer->sink.oversize(framer->sink.ctx, head, head_len, seen);
}

/* A buffer that one large frame made large is given back; the usual ones are kept. */
void frame_reset(struct framer *framer)
{
    framer->seen = 0;
    framer->pending.len = 0;
    if (framer->pending.cap > FRAME_BUFFER_KEPT) buf_clear(&framer->pending);
}

struct str frame_gather(struct framer *framer, const char *data, size_t len, size_t behind)
{
    if (framer->seen == 0 && behind >= TAPE_PADDING) return (struct str){data, len};
    frame_keep(framer, data, len);
    buf_reserve(&framer->pending, TAPE_PADDING);
    return buf_slice(&framer->pending);
}

bool frame_finish(struct framer *framer, const char *data, size_t len, size_t behind)
{
    bool more;
    if (framer->seen + len > framer->max_frame) {
        frame_keep(framer, data, len);
        more = give_oversize(framer, framer->pending.data, framer->pending.len, framer->seen);
    } else {
        struct str text = frame_gather(framer, data, len, behind);
        more = give(framer, text.p, text.n);
    }
    frame_reset(framer);
    return more;
}

bool framer_feed(struct framer *framer, const char *data, size_t len, struct err *err)
{
    if (err) err_clear(err);
    return framer->form == FRAME_WATCH ? frame_feed_watch(framer, data, len, err)
                                       : frame_feed_list(framer, data, len, err);
}

bool framer_end(struct framer *framer, struct err *err)
{
    if (err) err_clear(err);
    return framer->form == FRAME_WATCH ? frame_end_watch(framer, err) : frame_end_list(framer, err);
}
