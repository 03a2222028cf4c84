/* Rules asked about a part of an engine's caches; see audit_child.h. Nothing is freed: the process ends. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/audit_part_internal.h"
#include "audit/stream.h"
#include "base/log.h"

/* What was found is told after so many rows or objects. */
enum { ROWS_AT_ONCE = 500, OBJECTS_AT_ONCE = 20000 };

/* --- telling */

/* Nobody reads any more: there is nothing left to do. */
static void flush(struct part *part)
{
    struct str rest = buf_slice(&part->out);
    while (rest.n > 0) {
        ssize_t n = write(part->fd, rest.p, rest.n);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(1);
        rest = (struct str){rest.p + n, rest.n - (size_t)n};
    }
    part->out.len = 0;
}

static void tell_found(struct part *part)
{
    audit_stream_put_found(&part->out, part->table);
    audit_table_forget(part->table);
    part->seen = 0;
    flush(part);
}

void part_print(void *ctx, struct str line)
{
    struct part *part = ctx;
    audit_stream_put_print(&part->out, line);
    if (part->out.len > 1 << 20) flush(part);
}

void part_tell_trouble(struct part *part, const char *text)
{
    if (part->options->part == 0) audit_stream_put_trouble(&part->out, str_of(text));
}

/* Threads that write lines are the engine's alone. */
static void on_log(void *ctx, enum log_level level, const char *file, int line, const char *msg,
                   const struct log_field *fields)
{
    struct buf text = {0};
    buf_puts(&text, msg);
    for (const struct log_field *field = fields; field->key; field++) {
        buf_printf(&text, " %s=", field->key);
        log_put_value(&text, field);
    }
    part_print(ctx, buf_slice(&text));
    buf_clear(&text);
}

/* --- limits */

/* What it needs from now on, beyond what it shares with the engine and its caches; pools, which reserve far
 * more address space than they need, are there by now. */
static void limit_memory(int64_t bytes)
{
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    bool known = file && fgets(text, sizeof text, file);
    if (file) fclose(file);
    rlim_t pages = strtoull(text, NULL, 10); /* the first word */
    if (!known || bytes <= 0) return;
    rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)bytes;
    setrlimit(RLIMIT_AS, &(const struct rlimit){most, most});
}

/* --- objects */

static void look_at(struct part *part, const struct kind *kind, struct root *object)
{
    if (!part_is_in_scope(part, kind, object)) return;
    auditor_look_at(part->auditor, &(const struct audit_subject){.object = object, .file = STR("")});
    part->seen++;
    if (part->seen >= OBJECTS_AT_ONCE || audit_table_count_rows(part->table) >= ROWS_AT_ONCE)
        tell_found(part);
}

static void look_at_kind(struct part *part, const struct kind *kind)
{
    const struct indexer *objects = claim_indexer(kind->cache);
    size_t count = indexer_count(objects), which = part->options->part, parts = part->options->parts;
    size_t begin = count * which / parts, end = count * (which + 1) / parts, at = 0;
    for (size_t i = 0; i < end; i++) {
        struct root *object = indexer_next(objects, &at);
        if (i >= begin) look_at(part, kind, object);
    }
}

/* What does not load, is limited or misspelt is told; false when no rule can be asked. */
static bool prepare(struct part *part, int order)
{
    struct err err;
    if (!audit_order_read(order, &part->order, &err)) {
        part_tell_trouble(part, err.text);
        return false;
    }
    alarm(part->order.timeout_s < UINT_MAX ? (unsigned)part->order.timeout_s : UINT_MAX);
    if (!part_load(part)) return false;
    part_prepare_kinds(part);
    limit_memory(part->order.memory_bytes);
    return true;
}

bool audit_part(const struct audit_child_options *options, int order, int result)
{
    struct part part = {.options = options, .fd = result};
    log_capture(on_log, &part);
    bool ok = prepare(&part, order);
    for (size_t i = 0; ok && i < part.kind_count; i++)
        if (part.kinds[i].audited) look_at_kind(&part, &part.kinds[i]);
    if (ok) {
        tell_found(&part);
        audit_stream_put_end(&part.out);
    }
    flush(&part);
    return ok;
}
