/* Watches in protobuf; see encode.h. */
#include <string.h>

#include "base/mem.h"
#include "sim/api/encode.h"
#include "sim/proto/wire.h"
#include "sim/store/filter.h"
#include "sim/text/protobuf.h"
#include "sim/text/text.h"

enum { PREFIX = 4, EVENT_TYPE = 1, EVENT_OBJECT = 2, RAW = 1 };

/* Appends an event as a frame; false, with nothing appended, if it is none. */
static bool put_event(struct buf *out, struct str line)
{
    struct buf bytes = {0};
    struct str object, type;
    if (!sim_text_member(line, "object", &object) || !sim_text_member(line, "type", &type) ||
        !sim_wire_put(&bytes, object)) {
        buf_clear(&bytes);
        return false;
    }
    size_t at = out->len;
    buf_append(out, "\0\0\0\0", PREFIX);
    sim_protobuf_put(out, EVENT_TYPE, sim_text_unquote(type));
    size_t from = out->len;
    sim_protobuf_put(out, RAW, buf_slice(&bytes));
    sim_wire_close(out, EVENT_OBJECT, from);
    size_t len = out->len - at - PREFIX;
    for (int i = 0; i < PREFIX; i++) out->data[at + (size_t)i] = (char)(len >> (8 * (PREFIX - 1 - i)));
    buf_clear(&bytes);
    return true;
}

/* Encodes all complete lines; at the end of the stream the rest, too. */
static void encode(struct sim_filter *watch)
{
    struct str rest = buf_slice(&watch->in);
    for (const char *end; (end = memchr(rest.p, '\n', rest.n));) {
        struct str line = {rest.p, (size_t)(end - rest.p)};
        if (!put_event(&watch->out, line)) buf_append(&watch->out, line.p, line.n + 1);
        rest = (struct str){line.p + line.n + 1, rest.n - line.n - 1};
    }
    if (watch->ended && rest.n) {
        buf_str(&watch->out, rest);
        rest.n = 0;
    }
    if (rest.n) memmove(watch->in.data, rest.p, rest.n);
    watch->in.len = rest.n;
}

struct sim_stream *sim_encode_watch(struct sim_stream *lines)
{
    struct sim_filter *watch = NEW(struct sim_filter);
    sim_filter_init(watch, lines, encode, NULL);
    return &watch->stream;
}
