/* Watches in protobuf; see encode.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/encode.h"
#include "sim/proto/wire.h"
#include "sim/text/protobuf.h"
#include "sim/text/tree.h"

enum { BLOCK = 64 << 10, PREFIX = 4, EVENT_TYPE = 1, EVENT_OBJECT = 2, RAW = 1 };

struct encoded_watch {
    struct sim_stream stream;
    struct sim_stream *lines;
    struct buf in, out;
    size_t out_at;
    ssize_t ended; /* what `lines` ended with; 0 before */
};

static void watch_free(struct sim_stream *stream)
{
    struct encoded_watch *watch = container_of(stream, struct encoded_watch, stream);
    watch->lines->free(watch->lines);
    buf_clear(&watch->in);
    buf_clear(&watch->out);
    free(watch);
}

/* Appends an event as a frame; false if it is none. */
static bool put_event(struct buf *out, const json_t *event)
{
    struct buf object = {0};
    if (!sim_wire_put(&object, json_object_get(event, "object"))) return false;
    size_t at = out->len;
    buf_append(out, "\0\0\0\0", PREFIX);
    sim_protobuf_put(out, EVENT_TYPE, str_of(sim_text_at(event, "type")));
    size_t from = out->len;
    sim_protobuf_put(out, RAW, buf_slice(&object));
    sim_wire_close(out, EVENT_OBJECT, from);
    size_t len = out->len - at - PREFIX;
    for (int i = 0; i < PREFIX; i++) out->data[at + (size_t)i] = (char)(len >> (8 * (PREFIX - 1 - i)));
    buf_clear(&object);
    return true;
}

static void put_line(struct buf *out, struct str line)
{
    json_t *event = sim_parse(line, 0, NULL);
    if (!put_event(out, event)) buf_str(out, line);
    json_decref(event);
}

/* Encodes all complete lines; at the end of the stream the rest, too. */
static void encode(struct encoded_watch *watch)
{
    struct str rest = buf_slice(&watch->in);
    for (const char *end; (end = memchr(rest.p, '\n', rest.n));) {
        size_t n = (size_t)(end - rest.p) + 1;
        put_line(&watch->out, (struct str){rest.p, n});
        rest = (struct str){rest.p + n, rest.n - n};
    }
    if (watch->ended && rest.n) {
        buf_str(&watch->out, rest);
        rest.n = 0;
    }
    if (rest.n) memmove(watch->in.data, rest.p, rest.n);
    watch->in.len = rest.n;
}

static ssize_t watch_read(struct sim_stream *stream, char *to, size_t room)
{
    struct encoded_watch *watch = container_of(stream, struct encoded_watch, stream);
    while (watch->out_at == watch->out.len) {
        watch->out.len = watch->out_at = 0;
        if (watch->ended) return watch->ended;
        ssize_t n = watch->lines->read(watch->lines, buf_reserve(&watch->in, BLOCK), BLOCK);
        if (n == SIM_STREAM_LATER) return n;
        if (n < 0)
            watch->ended = n;
        else
            watch->in.len += (size_t)n;
        encode(watch);
    }
    size_t n = watch->out.len - watch->out_at;
    if (n > room) n = room;
    memcpy(to, watch->out.data + watch->out_at, n);
    watch->out_at += n;
    return (ssize_t)n;
}

struct sim_stream *sim_encode_watch(struct sim_stream *lines)
{
    struct encoded_watch *watch = NEW(struct encoded_watch);
    *watch = (struct encoded_watch){.stream = {watch_read, watch_free}, .lines = lines};
    return &watch->stream;
}
