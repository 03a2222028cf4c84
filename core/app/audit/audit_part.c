/* Evaluates rules on a part of an engine's caches; see audit_children.h. Nothing is freed, as the process
 * ends. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/audit/audit_part_internal.h"
#include "audit/found/stream.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "script/vm/bundle.h"
#include "script/vm/cpu_watch.h"

/* Bounds after which findings are sent, so that memory stays small and the progress is visible. */
enum { ROWS_AT_ONCE = 500, REPORT_EVERY_NS = 200000000 };

/* --- output */

/* Sends the output. A closed pipe means that the audit was cancelled: nothing is left to do. */
static void flush(struct part *part)
{
    if (!file_write(part->fd, buf_slice(&part->out))) _exit(1);
    part->out.len = 0;
}

static void notify_found(struct part *part)
{
    audit_stream_put_found(&part->out, part->table);
    audit_table_forget(part->table);
    part->reported_ns = clock_measure_ns();
    flush(part);
}

void part_print(void *ctx, struct str line)
{
    struct part *part = ctx;
    audit_stream_put_print(&part->out, line);
    if (part->out.len > 1 << 20) flush(part);
}

/* All parts find the same problems: only the first reports them. */
void part_report_problem(struct part *part, const char *text)
{
    if (part->options->part == 0) audit_stream_put_problem(&part->out, str_of(text));
}

/* Prints a log line to the stream: the thread that writes logs exists only in the engine. */
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

/* Limits the memory that the child needs from now on, beyond what it shares with the engine and its caches.
 * Pools, which reserve far more address space than they need, exist by now. */
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

static void audit_object(struct part *part, const struct kind *kind, struct root *object)
{
    if (!part_is_in_scope(part, kind, object)) return;
    auditor_audit(part->auditor, &(const struct audit_subject){.object = object, .file = STR("")});
    if (audit_table_count_rows(part->table) >= ROWS_AT_ONCE ||
        clock_measure_ns() - part->reported_ns > REPORT_EVERY_NS)
        notify_found(part);
}

/* Range of the objects of a kind that this part evaluates. */
struct slice {
    size_t begin, end;
};

static struct slice slice_of(const struct part *part, const struct kind *kind)
{
    size_t count = kind->audited ? indexer_count(claim_indexer(kind->cache)) : 0;
    size_t which = part->options->part, parts = part->options->parts;
    return (struct slice){count * which / parts, count * (which + 1) / parts};
}

static void audit_kind(struct part *part, const struct kind *kind)
{
    struct slice slice = slice_of(part, kind);
    size_t at = 0;
    for (size_t i = 0; i < slice.end; i++) {
        /* Walked from the start, as the cache has no access by number. All parts see the same order, as they
         * are forks of one process. */
        struct root *object = indexer_next(claim_indexer(kind->cache), &at);
        if (i >= slice.begin) audit_object(part, kind, object);
    }
}

static void audit_all(struct part *part)
{
    size_t total = 0;
    for (size_t i = 0; i < part->kind_count; i++) {
        struct slice slice = slice_of(part, &part->kinds[i]);
        total += slice.end - slice.begin;
    }
    audit_stream_put_total(&part->out, total);
    flush(part);
    for (size_t i = 0; i < part->kind_count; i++) audit_kind(part, &part->kinds[i]);
}

/* Loads the rules and reports scripts that do not load, limits and misspelt names; false if no rule can be
 * evaluated. */
static bool prepare(struct part *part, int order)
{
    struct err err;
    if (!audit_job_read(order, &part->order, &err)) {
        part_report_problem(part, err.text);
        return false;
    }
    /* Both before the rules are loaded, which may already take long. */
    setpriority(PRIO_PROCESS, 0, part->order.nice);
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
    if (ok) {
        audit_all(&part);
        notify_found(&part);
        audit_stream_put_end(&part.out);
    }
    flush(&part);
    return ok;
}

/* --- loading the rules of a job */

static bool load(struct part *part, const char *name, const char *path, struct bundle *bundle)
{
    struct err err;
    const struct script_source source = {
        .path = path, .name = name, .bundle = bundle_ref(bundle), .generation = 1};
    struct script *script = script_prepare(&part->dry.host, &source, &err);
    if (script)
        part->scripts[part->script_count++] = script;
    else
        part_report_problem(part, err.text);
    return script != NULL;
}

static bool load_own(struct part *part)
{
    const struct audit_child_options *o = part->options;
    bool ok = true;
    part->scripts = xcalloc(o->script_count + 1, sizeof(struct script *));
    for (size_t i = 0; i < o->script_count; i++) {
        const struct script *script = o->scripts[i];
        if (script_rule_count(script))
            ok &= load(part, script_name(script), script_path(script), script_bundle(script));
    }
    if (ok && part->script_count == 0)
        part_report_problem(part, "none of the scripts of the engine has a rule (k8s.rule)");
    return ok && part->script_count > 0;
}

static bool load_given(struct part *part)
{
    const struct audit_job *order = &part->order;
    bool ok = true;
    part->scripts = xcalloc(order->script_count + 1, sizeof(struct script *));
    for (size_t i = 0; i < order->script_count; i++) {
        const struct audit_job_script *script = &order->scripts[i];
        ok &= load(part, script->name, script->path, script->bundle);
    }
    return ok;
}

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    const struct part *part = ctx;
    return audit_objects_source(part->objects, resource, scope);
}

/* Uses the settings of the engine's own scripts. */
static void give_own(const struct script_host *engine, struct engine_settings *settings)
{
    settings->limits = engine->limits;
    settings->trusted = engine->trusted;
    settings->trusted_count = engine->trusted_count;
    settings->lua_path = engine->lua_path;
    settings->lua_path_count = engine->lua_path_count;
}

/* Ignores failures, which are in the report. */
static void drop_failure(void *ctx, const char *call, const char *error, const char *traceback,
                         const struct log_field *about)
{
}

static void open_host(struct part *part)
{
    const struct script_host *engine = part->options->host;
    struct err err;
    part->ns = *part->order.namespace_ ? part->order.namespace_ : engine->default_namespace;
    struct engine_settings settings = {
        .default_namespace = part->ns,
        .params = engine->params,
        .hooks = {.print = part_print, .failed = drop_failure, .ctx = part},
    };
    audit_job_give(&part->order, &settings);
    if (part->order.is_own) give_own(engine, &settings);
    load_host_open_on(&part->dry, &settings, new_source, part);
    part->objects = audit_objects_new(part->dry.loop);
    part->dry.host.watch = cpu_watch_new(&err);
}

bool part_load(struct part *part)
{
    struct err err;
    open_host(part);
    if (!(part->order.is_own ? load_own(part) : load_given(part))) return false;
    part->table = audit_table_new(part->order.passes);
    part->selector = selector_parse(str_of(part->order.selector), &err);
    if (part->selector)
        part->auditor = auditor_new(&(const struct auditor_options){.scripts = part->scripts,
                                                                    .script_count = part->script_count,
                                                                    .catalogue = part->options->catalogue,
                                                                    .table = part->table,
                                                                    .selector = part->selector,
                                                                    .now_s = part->order.now_s,
                                                                    .limits = part->order.suppression},
                                    &err);
    bool ok = part->auditor && audit_stream_put_rules(&part->out, part->table, &err);
    if (!ok) part_report_problem(part, err.text);
    return ok;
}
