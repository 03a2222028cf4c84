/* Frames out of a stream of bytes: what both forms share, and the lines of a watch; see frame.h. */
#include "kube/frame.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/frame_internal.h"
#include "object/tape.h"

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
static void reset(struct framer *framer)
{
    framer->seen = 0;
    framer->pending.len = 0;
    if (framer->pending.cap > FRAME_BUFFER_KEPT) buf_clear(&framer->pending);
}

bool frame_finish(struct framer *framer, const char *data, size_t len, size_t behind)
{
    if (framer->seen == 0 && behind >= TAPE_PADDING && len <= framer->max_frame)
        return give(framer, data, len);
    frame_keep(framer, data, len);
    struct buf *pending = &framer->pending;
    bool more;
    if (framer->seen > framer->max_frame) {
        more = give_oversize(framer, pending->data, pending->len, framer->seen);
    } else {
        buf_reserve(pending, TAPE_PADDING);
        more = give(framer, pending->data, pending->len);
    }
    reset(framer);
    return more;
}

/* How many blanks there are at the beginning. */
static size_t count_blanks(const char *data, size_t len)
{
    size_t n = 0;
    while (n < len && (data[n] == ' ' || data[n] == '\t' || data[n] == '\r')) n++;
    return n;
}

static bool feed_lines(struct framer *framer, const char *data, size_t len)
{
    while (len > 0) {
        size_t blanks = framer->seen == 0 ? count_blanks(data, len) : 0;
        data += blanks;
        len -= blanks;
        const char *end = len ? memchr(data, '\n', len) : NULL;
        if (!end) {
            frame_keep(framer, data, len);
            return true;
        }
        size_t line = (size_t)(end - data);
        if ((line > 0 || framer->seen > 0) && !frame_finish(framer, data, line, len - line)) return false;
        len -= line + 1;
        data = end + 1;
    }
    return true;
}

bool framer_feed(struct framer *framer, const char *data, size_t len, struct err *err)
{
    if (err) err_clear(err);
    return framer->form == FRAME_WATCH ? feed_lines(framer, data, len)
                                       : frame_feed_list(framer, data, len, err);
}

bool framer_end(struct framer *framer, struct err *err)
{
    if (err) err_clear(err);
    if (framer->form == FRAME_LIST) return frame_end_list(framer, err);
    return framer->seen == 0 || err_set(err, ERR_CLOSED, "unexpected EOF: the stream ended inside a line");
}
