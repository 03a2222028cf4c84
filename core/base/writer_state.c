/* State of a stream; see writer_internal.h. */
#include <string.h>

#include "base/civil.h"
#include "base/log.h"
#include "base/writer_internal.h"

/* --- news for the log; without a lock, as the log is a stream too */

static const char *reason_of(const struct output_stream *s, int error)
{
    if (error) return strerror(error);
    return s->file ? "writes are faster than the disk" : "the reader is too slow";
}

static void report_gap(const struct output_stream *s, const struct news *news)
{
    struct buf since = {0};
    civil_put_utc(&since, news->gap.since_us, 3);
    const char *reason = reason_of(s, news->error);
    if (news->kind == IT_ENDED)
        log_error("Lines were lost at the end", F("file", s->name), FI("lost", news->gap.lines),
                  FS("since", buf_slice(&since)), F("err", reason));
    else
        log_warn("Lines are written again, some were lost", F("file", s->name), FI("lost", news->gap.lines),
                 FS("since", buf_slice(&since)), F("err", reason));
    buf_clear(&since);
}

/* Logs nothing about the log itself while it fails, as it could not be read. */
void writer_report(const struct output_stream *s, const struct news *news)
{
    bool is_log = s->which == WRITER_STDERR;
    if (news->kind == NO_NEWS || (is_log && news->kind != IT_WORKS)) return;
    if (news->kind != IT_FAILS && news->gap.lines > 0)
        report_gap(s, news);
    else if (news->kind == IT_ENDED)
        return;
    else if (news->kind == IT_WORKS)
        log_info("Lines are written again, none was lost", F("file", s->name),
                 F("err", reason_of(s, news->error)));
    else if (s->file)
        log_error(s->file->incomplete, F("file", s->name), F("err", reason_of(s, news->error)));
    else
        log_error("Failed to write lines, retrying", F("file", s->name), F("err", reason_of(s, news->error)));
}

/* --- what becomes of lines; all with the lock */

void writer_lose(struct output_stream *s, uint64_t lines)
{
    int error = s->outlet.error;
    s->dropped += lines;
    metric_add(s->dropped_metric, lines);
    if (error && lines) s->dropped_by = error;
    if (!error && !s->reported && !s->file) return; /* a slow reader is only counted */
    if (!s->gap.lines) s->gap.since_us = clock_wall_us(clock_real());
    s->gap.lines += lines;
    if (s->file) s->unmarked += lines;
}

/* Loses what the outlet and the caller have. The first of them came when it began to fail, or before. */
static void give_up(struct output_stream *s)
{
    int64_t since_us = clock_wall_us(clock_real()) - outlet_failing_ms(&s->outlet) * 1000;
    uint64_t left = outlet_drop(&s->outlet) * (s->marking == 0);
    left += outlet_count(buf_slice(&s->waiting));
    writer_lose(s, left);
    if (left && since_us < s->gap.since_us) s->gap.since_us = since_us;
    buf_clear(&s->waiting);
    s->marking = 0;
    if (s->stopping) s->unmarked = 0;
}

static struct news take_news(struct output_stream *s, int kind)
{
    struct news news = {.kind = kind, .error = s->reported_error, .gap = s->gap};
    if (kind != IT_FAILS) s->gap.lines = 0;
    s->reported = kind == IT_FAILS;
    return news;
}

struct news writer_settle(struct output_stream *s, int error)
{
    bool first = !s->reported;
    outlet_note(&s->outlet, error);
    if (error) {
        s->reported_error = error;
        if (s->stopping || !s->running) give_up(s);
        if (s->stopping) return take_news(s, IT_ENDED);
        return first ? take_news(s, IT_FAILS) : (struct news){0};
    }
    s->unmarked -= s->marking;
    s->marking = 0;
    bool is_behind = s->waiting.len > 0 || s->unmarked > 0;
    return s->reported && !is_behind ? take_news(s, IT_WORKS) : (struct news){0};
}

static void put_mark(struct output_stream *s)
{
    struct writer_gap gap = s->gap;
    gap.lines = s->unmarked;
    gap.until_us = clock_wall_us(clock_real());
    gap.reason = reason_of(s, s->reported_error);
    s->file->put_gap(&s->waiting, &gap);
    s->marking = s->unmarked;
}

bool writer_load(struct output_stream *s)
{
    if (s->outlet.lines.len) return true;
    if (!s->waiting.len && s->unmarked) put_mark(s);
    if (!s->waiting.len) return false;
    outlet_load(&s->outlet, &s->waiting);
    return true;
}

bool writer_has_room(const struct output_stream *s, size_t len, size_t most)
{
    size_t buffered = s->waiting.len + s->outlet.lines.len;
    /* No line may overtake the mark of lost ones; a line longer than the buffer is accepted alone. */
    return s->unmarked == 0 && (buffered == 0 || buffered + len <= most);
}

bool writer_refuse(struct output_stream *s, struct str text)
{
    bool first = s->file && !s->reported;
    writer_lose(s, outlet_count(text));
    if (first) s->reported_error = s->outlet.error;
    s->reported |= first;
    return first;
}
