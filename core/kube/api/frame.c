/* Cuts a stream of bytes into frames: the common part of watches and lists; see frame.h. */
#include "kube/api/frame.h"

#include <stdlib.h>
#include <string.h>

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
    if (pending->len > FRAME_HEAD_MAX) { /* it just exceeded the limit: only its head is kept */
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

/* Ends a frame. Frees a buffer that one large frame has grown; keeps a usual one. */
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

bool framer_swap(struct framer *framer, const char *text, struct buf *into)
{
    if (text != framer->pending.data) return false;
    struct buf own = framer->pending;
    framer->pending = *into;
    *into = own;
    return true;
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

/* --- Events of a watch: JSON objects one after the other. Servers end each with a line end, which the
 * protocol does not promise (H-10). A line is taken for one event until that proves wrong, which costs next
 * to nothing; anything else is scanned byte by byte */

enum { LINE_MAX = 1 << 20 }; /* a longer line is scanned */

static size_t count_blanks(const char *data, size_t len)
{
    size_t n = 0;
    while (n < len && (data[n] == ' ' || data[n] == '\t' || data[n] == '\r' || data[n] == '\n')) n++;
    return n;
}

static struct str trim_end(struct str text)
{
    while (text.n && (text.p[text.n - 1] == ' ' || text.p[text.n - 1] == '\t' || text.p[text.n - 1] == '\r'))
        text.n--;
    return text;
}

static bool begins_line_end(const char *data, size_t len)
{
    return len == 0 || data[0] == '\n' || (data[0] == '\r' && (len == 1 || data[1] == '\n'));
}

/* Scans the next bytes of an event whose end only its brackets show. */
static bool walk(struct framer *framer, const char *data, size_t len, size_t *used, struct err *err)
{
    const char *wrong, *end = json_walk(&framer->walk, data, data + len, &wrong);
    if (wrong)
        return err_set(err, ERR_PARSE, "watch event: malformed JSON at its byte %zu",
                       framer->seen + (size_t)(wrong - data));
    *used = end ? (size_t)(end - data) : len;
    if (!end) {
        frame_keep(framer, data, len);
        return true;
    }
    framer->walking = false;
    framer->walk = (struct json_walk){0};
    if (!begins_line_end(end, len - *used)) framer->no_lines = true;
    return frame_finish(framer, data, *used, len - *used);
}

/* Scans the event in progress from its start. */
static bool walk_again(struct framer *framer, struct err *err)
{
    struct buf kept = framer->pending;
    framer->pending = (struct buf){0};
    framer->seen = 0;
    framer->walking = true;
    bool ok = frame_feed_watch(framer, kept.data, kept.len, err);
    buf_clear(&kept);
    return ok;
}

static bool is_one(struct framer *framer, struct str line)
{
    /* The last byte rejects most parts of an event cheaply; only a parser can tell that a line is exactly
     * one. */
    return line.n > 1 && line.p[0] == '{' && line.p[line.n - 1] == '}' &&
           framer->sink.is_one(framer->sink.ctx, line.p, line.n);
}

/* Ends a line, whose last bytes are these. */
static bool end_line(struct framer *framer, const char *data, size_t len, size_t behind, size_t *used,
                     struct err *err)
{
    bool more, alone = framer->seen == 0;
    struct str line = trim_end(frame_gather(framer, data, len, behind));
    if (is_one(framer, line)) {
        framer->lines = true;
        more = framer->sink.frame(framer->sink.ctx, line.p, line.n);
        frame_reset(framer);
        *used = len + 1;
        return more;
    }
    if (alone) { /* nothing but these bytes: they are scanned again */
        frame_reset(framer);
        framer->walking = true;
        *used = 0;
        return true;
    }
    *used = len;
    return walk_again(framer, err);
}

/* Returns whether an event without a line end may end like this. On a stream with line ends both brackets are
 * required, the object's and the event's: otherwise each piece that ends in a brace would be scanned twice.
 */
static bool may_be_whole(const struct framer *framer, struct str tail)
{
    if (!tail.n || tail.p[tail.n - 1] != '}') return false;
    return !framer->lines || tail.n < 2 || tail.p[tail.n - 2] == '}';
}

/* Takes bytes that may belong to a line. */
static bool take_line(struct framer *framer, const char *data, size_t len, size_t *used, struct err *err)
{
    const char *end = memchr(data, '\n', len);
    size_t n = end ? (size_t)(end - data) : len;
    if (framer->seen + n > framer->max_frame || framer->seen + n > LINE_MAX) {
        *used = 0;
        return walk_again(framer, err);
    }
    if (end) return end_line(framer, data, n, len - n, used, err);
    frame_keep(framer, data, n);
    *used = n;
    struct str tail = trim_end((struct str){data, n});
    return !may_be_whole(framer, tail) || walk_again(framer, err);
}

bool frame_feed_watch(struct framer *framer, const char *data, size_t len, struct err *err)
{
    while (len > 0) {
        size_t used = framer->seen == 0 ? count_blanks(data, len) : 0;
        data += used;
        len -= used;
        if (!len) break;
        if (framer->no_lines) framer->walking = true;
        if (!(framer->walking ? walk : take_line)(framer, data, len, &used, err)) return false;
        data += used;
        len -= used;
    }
    return true;
}

bool frame_end_watch(struct framer *framer, struct err *err)
{
    if (framer->seen > 0 && !framer->walking && !walk_again(framer, err)) return false;
    return framer->seen == 0 || err_set(err, ERR_CLOSED, "unexpected EOF: the stream ended inside an event");
}
