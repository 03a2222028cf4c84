/* The ring of writes and its file; see write_log.h. */
#include "script/server/write_log.h"

#include <stdlib.h>

#include "base/civil.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/text/json_out.h"
#include "base/text/redact.h"
#include "base/writer.h"
#include "script/server/write_record.h"
#include "script/server/write_request.h"
#include "script/vm/args.h"

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

/* Bound of a key, as a script may use any string. */
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

/* Its name and version as the server has them. */
static void put_object(struct buf *out, const struct object_request *request, const struct root *answered)
{
    struct buf object = {0}, version = {0};
    struct text text;
    struct str name = str_of(request->place.name);
    if (answered && !name.n) name = root_name(answered, &text);
    write_request_object(request, name, &object);
    if (answered) buf_str(&version, root_resource_version(answered, &text));
    put_text(out, "object", buf_text(&object));
    put_text(out, "resourceVersion", buf_text(&version));
    buf_clear(&object);
    buf_clear(&version);
}

/* A server may repeat in its message what is wrong with a value. */
static void put_result(struct buf *out, const struct object_request *request, const struct err *err)
{
    put_text(out, "result", err ? err_reason(err) : "ok");
    if (!err) return;
    if (err->http_status) json_int(out, "code", err->http_status);
    if (!write_request_is_secret(request)) put_text(out, "message", err->text);
}

static void put_entry(struct buf *out, struct write_record *record, int64_t ended_us,
                      const struct object_response *response)
{
    const struct object_request *request = record->request;
    struct buf script = {0}, resource = {0};
    buf_printf(&script, "%s@%s", record->script, record->hash);
    write_request_resource(request, &resource);
    buf_putc(out, '{');
    put_time(out, "time", record->begun_us);
    put_text(out, "script", buf_text(&script));
    put_text(out, "handler", buf_text(&record->caller));
    put_text(out, "trigger", buf_text(&record->trigger));
    put_text(out, "verb", write_function_of(request)->access_name);
    put_text(out, "cluster", record->cluster && record->cluster->name ? record->cluster->name : "");
    put_text(out, "resource", buf_text(&resource));
    put_text(out, "subresource", request->place.subresource);
    put_object(out, request, response->object);
    put_text(out, "manager", request->manager);
    put_text(out, "dryRun", record->is_recorded ? "client" : request->dry_run ? "server" : "");
    put_result(out, request, response->err);
    json_int(out, "milliseconds", (ended_us - record->begun_us) / 1000);
    json_close(out, '}');
    redact(out); /* an object may have a secret parameter as its name */
    buf_clear(&script);
    buf_clear(&resource);
}

/* Formats the time without libc, on the writer's thread: a fork must not find a lock of libc held. */
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

void write_log_add(struct write_log *write_log, struct write_record *record, int64_t ended_us,
                   const struct object_response *response)
{
    struct buf *line = &write_log->lines[write_log->total++ % WRITE_LOG_KEPT];
    line->len = 0;
    put_entry(line, record, ended_us, response);
    if (!write_log->has_file) return;
    buf_putc(line, '\n');
    writer_put(WRITER_FILE, buf_slice(line), WRITER_NEVER_WAIT);
    line->len--;
}

void write_log_write(const struct write_log *write_log, const char *key, size_t most, struct buf *out)
{
    size_t kept = most < WRITE_LOG_KEPT ? most : WRITE_LOG_KEPT;
    uint64_t first = write_log->total > kept ? write_log->total - kept : 0;
    json_open(out, key, '[');
    for (uint64_t i = first; i < write_log->total; i++)
        json_raw(out, NULL, buf_slice(&write_log->lines[i % WRITE_LOG_KEPT]));
    json_close(out, ']');
}

uint64_t write_log_total(const struct write_log *write_log)
{
    return write_log->total;
}
