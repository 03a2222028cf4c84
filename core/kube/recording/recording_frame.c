/* Lines of a zstd frame; see recording_frame.h. */
#include "kube/recording/recording_frame.h"

#include <string.h>

#include "base/must.h"

/* Buffers larger than KEEP are freed as soon as their text was read. */
enum { CHUNK = 64 << 10, KEEP = 1 << 20, WINDOW_LOG_MAX = 23 };

void recording_frame_init(struct recording_frame *frame, const char *data, size_t size, size_t *total)
{
    *frame = (struct recording_frame){.in = {data, size, 0}, .total = total};
    frame->zstd = ZSTD_createDStream();
    must(frame->zstd);
    ZSTD_DCtx_setParameter(frame->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
}

static void count_memory(struct recording_frame *frame)
{
    size_t now = ZSTD_sizeof_DStream(frame->zstd) + frame->text.cap;
    *frame->total += now - frame->counted;
    frame->counted = now;
}

static void end_inflating(struct recording_frame *frame)
{
    ZSTD_freeDStream(frame->zstd);
    frame->zstd = NULL;
    count_memory(frame);
}

void recording_frame_end(struct recording_frame *frame)
{
    buf_clear(&frame->text);
    frame->at = 0;
    end_inflating(frame);
}

static bool fail(struct recording_frame *frame, enum err_code code, const char *why, struct err *err)
{
    recording_frame_end(frame);
    return err_set(err, code, "%s", why);
}

/* Drops the lines that were read. */
static void consume(struct recording_frame *frame)
{
    size_t left = frame->text.len - frame->at;
    if (frame->text.cap > KEEP && left < KEEP / 2) {
        struct buf smaller = {0};
        if (left) buf_append(&smaller, frame->text.data + frame->at, left);
        buf_clear(&frame->text);
        frame->text = smaller;
        count_memory(frame);
    } else {
        buf_consume(&frame->text, frame->at);
    }
    frame->at = 0;
}

/* Inflates more; returns false at the end, or with an error. */
static bool inflate_more(struct recording_frame *frame, struct err *err)
{
    if (!frame->zstd) return false;
    ZSTD_outBuffer out = {buf_reserve(&frame->text, CHUNK), CHUNK, 0};
    size_t left = ZSTD_decompressStream(frame->zstd, &out, &frame->in);
    frame->text.len += out.pos;
    if (ZSTD_isError(left)) return fail(frame, ERR_PARSE, ZSTD_getErrorName(left), err);
    if (left == 0) {
        end_inflating(frame);
        return true;
    }
    if (out.pos == 0 && frame->in.pos == frame->in.size)
        return fail(frame, ERR_PARSE, "unexpected end of file", err);
    count_memory(frame);
    if (*frame->total > RECORDING_MEMORY_MAX)
        return fail(frame, ERR_LIMIT, "all streams together need more than 512 MiB of memory", err);
    return true;
}

static bool too_long(struct recording_frame *frame, size_t max, struct err *err)
{
    fail(frame, ERR_LIMIT, "a line is longer than ", err);
    return max < 1 << 20 ? err_append(err, "%zu KiB", max >> 10) : err_append(err, "%zu MiB", max >> 20);
}

bool recording_frame_line(struct recording_frame *frame, size_t max, struct str *line, struct err *err)
{
    err_clear(err);
    if (frame->text.cap > KEEP) consume(frame);
    for (size_t scanned = frame->at;;) {
        size_t more = frame->text.len - scanned;
        const char *end = more ? memchr(frame->text.data + scanned, '\n', more) : NULL;
        if ((end ? (size_t)(end - frame->text.data) : frame->text.len) - frame->at > max)
            return too_long(frame, max, err);
        if (end) {
            const char *begin = frame->text.data + frame->at;
            *line = (struct str){begin, (size_t)(end - begin)};
            frame->at += line->n + 1;
            frame->line++;
            return true;
        }
        consume(frame);
        scanned = frame->text.len;
        if (!inflate_more(frame, err)) break;
    }
    if (err->code == ERR_NONE && frame->text.len > 0)
        return fail(frame, ERR_PARSE, "the last line is incomplete", err);
    return false;
}

void recording_frame_clear(struct recording_frame *frame)
{
    ZSTD_freeDStream(frame->zstd);
    buf_clear(&frame->text);
}
