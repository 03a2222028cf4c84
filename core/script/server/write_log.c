/* The ring of writes and its file; see write_log.h. */
#include "script/server/write_log.h"

#include <stdlib.h>

#include "base/civil.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/text/json_out.h"
#include "base/writer.h"

METRIC(metric_audit_dropped, 10, "kubelua_audit_log_lines_dropped_total",
       "Lines of the audit log that were lost: its disk was full or too slow.");

struct write_log {
    struct buf lines[WRITE_LOG_KEPT]; /* JSON objects; `total` % KEPT is the next one */
    uint64_t total;
    bool has_file;
};

/* --- JSON */

/* Its first WRITE_LOG_TEXT_MAX bytes, or less where they would end within a character. */
static struct str beginning_of(struct str text)
{
    size_t n = WRITE_LOG_TEXT_MAX;
    for (size_t back = 0; back < 4 && (text.p[n] & 0xC0) == 0x80; back++) n--;
    return (struct str){text.p, n};
}

static void put_cut(struct buf *out, const char *key, struct str text)
{
    struct buf cut = {0};
    buf_str(&cut, beginning_of(text));
    buf_puts(&cut, "...");
    json_str(out, key, buf_slice(&cut));
    buf_clear(&cut);
}

/* A key of a queue is as long as the script made it. */
static void put_text(struct buf *out, const char *key, const char *text)
{
    struct str whole = str_of(text);
    if (whole.n > WRITE_LOG_TEXT_MAX)
        put_cut(out, key, whole);
    else
        json_str_unless_empty(out, key, whole);
}

static void put_time(struct buf *out, const char *key, int64_t time_us)
{
    json_key(out, str_of(key));
    buf_putc(out, '"');
    civil_put_utc(out, time_us, 3);
    buf_putc(out, '"');
}

static void put_entry(struct buf *out, const struct write_log_entry *e)
{
    struct buf script = {0}, object = {0};
    buf_printf(&script, "%s@%s", e->script, e->hash);
    if (e->namespace_ && *e->namespace_) buf_printf(&object, "%s/", e->namespace_);
    buf_puts(&object, e->name ? e->name : "");
    buf_putc(out, '{');
    put_time(out, "time", e->time_us);
    put_text(out, "script", buf_text(&script));
    put_text(out, "handler", e->caller);
    put_text(out, "trigger", e->trigger);
    put_text(out, "verb", e->verb);
    put_text(out, "resource", e->resource);
    put_text(out, "subresource", e->subresource);
    put_text(out, "object", buf_text(&object));
    put_text(out, "resourceVersion", e->resource_version);
    put_text(out, "manager", e->manager);
    put_text(out, "dryRun", e->dry_run);
    put_text(out, "result", e->result);
    if (e->code) json_int(out, "code", e->code);
    put_text(out, "message", e->message);
    json_int(out, "milliseconds", e->took_ms);
    json_close(out, '}');
    buf_clear(&script);
    buf_clear(&object);
}

/* On the writer's thread: the time is made without libc, whose locks a fork must not find taken. */
static void put_gap(struct buf *out, const struct writer_gap *gap)
{
    buf_putc(out, '{');
    put_time(out, "time", gap->until_us);
    json_text(out, "result", "Lost");
    json_int(out, "lost", (int64_t)gap->lines);
    put_time(out, "since", gap->since_us);
    put_text(out, "message", gap->reason);
    buf_puts(out, "}\n");
}

/* --- */

struct write_log *write_log_new(const char *path, struct err *err)
{
    static const struct writer_file file = {
        .put_gap = put_gap,
        .dropped = &metric_audit_dropped,
        .incomplete = "Failed to write the audit log, retrying",
        .reopened = "Audit log reopened",
        .refused = "Failed to reopen audit log, still using the old file",
    };
    if (path && !writer_open_file(path, &file, err)) return NULL;
    struct write_log *write_log = NEW(struct write_log);
    write_log->has_file = path != NULL;
    return write_log;
}

void write_log_reopen(struct write_log *write_log)
{
    if (write_log->has_file) writer_reopen_file();
}

void write_log_free(struct write_log *write_log)
{
    if (!write_log) return;
    for (size_t i = 0; i < WRITE_LOG_KEPT; i++) buf_clear(&write_log->lines[i]);
    free(write_log);
}

void write_log_add(struct write_log *write_log, const struct write_log_entry *entry)
{
    struct buf *line = &write_log->lines[write_log->total++ % WRITE_LOG_KEPT];
    line->len = 0;
    put_entry(line, entry);
    if (!write_log->has_file) return;
    buf_putc(line, '\n');
    writer_put(WRITER_FILE, buf_slice(line), WRITER_NEVER_WAIT);
    line->len--;
}

void write_log_write(const struct write_log *write_log, struct buf *out)
{
    uint64_t first = write_log->total > WRITE_LOG_KEPT ? write_log->total - WRITE_LOG_KEPT : 0;
    buf_putc(out, '[');
    for (uint64_t i = first; i < write_log->total; i++)
        json_raw(out, NULL, buf_slice(&write_log->lines[i % WRITE_LOG_KEPT]));
    json_close(out, ']');
}

uint64_t write_log_total(const struct write_log *write_log)
{
    return write_log->total;
}
