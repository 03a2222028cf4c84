/* Rules asked about a part of an engine's caches; see audit_child.h. Nothing is freed: the process ends. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/audit_caches.h"
#include "app/audit_child.h"
#include "app/audit_order.h"
#include "app/dry_host.h"
#include "audit/objects.h"
#include "audit/stream.h"
#include "base/log.h"
#include "base/mem.h"
#include "script/bundle.h"
#include "script/cpu_watch.h"

/* What was found is told after so many rows or objects. */
enum { ROWS_AT_ONCE = 500, OBJECTS_AT_ONCE = 20000 };

struct kind {
    struct resource resource;
    struct informer_claim *cache;   /* NULL: there is none that is whole */
    struct informer_claim *partial; /* then, for informers of scripts; may be NULL too */
    struct buf why;                 /* there is none */
    struct buf rules;               /* that were not asked about it, "a, b" */
    bool audited, used;
};

struct part {
    const struct audit_child_options *options;
    int fd;
    struct audit_order order;
    const char *ns;
    struct dry_host dry;
    struct script **scripts;
    size_t script_count;
    struct audit_table *table;
    struct auditor *auditor;
    struct audit_objects *objects; /* what rules use */
    struct kind *kinds;
    size_t kind_count;
    struct buf out;
    size_t seen; /* since something was told */
};

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

static void on_print(void *ctx, struct str line)
{
    struct part *part = ctx;
    audit_stream_put_print(&part->out, line);
    if (part->out.len > 1 << 20) flush(part);
}

/* What is no part's own is told by the first. */
static void tell_trouble(struct part *part, const char *text)
{
    if (part->options->part == 0) audit_stream_put_trouble(&part->out, str_of(text));
}

/* The report has it. */
static void drop_failure(void *ctx, const char *call, const char *error, const char *traceback,
                         const struct log_field *about)
{
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
    on_print(ctx, buf_slice(&text));
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

/* --- scripts */

static bool load(struct part *part, const char *name, const char *path, struct bundle *bundle)
{
    struct err err;
    const struct script_source source = {
        .path = path, .name = name, .bundle = bundle_ref(bundle), .generation = 1};
    struct script *script = script_prepare(&part->dry.host, &source, &err);
    if (script)
        part->scripts[part->script_count++] = script;
    else
        tell_trouble(part, err.text);
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
    if (ok && part->script_count == 0) tell_trouble(part, "no script of the engine has a rule (k8s.rule)");
    return ok && part->script_count > 0;
}

static bool load_given(struct part *part)
{
    const struct audit_order *order = &part->order;
    bool ok = true;
    part->scripts = xcalloc(order->script_count + 1, sizeof(struct script *));
    for (size_t i = 0; i < order->script_count; i++) {
        const struct audit_order_script *script = &order->scripts[i];
        ok &= load(part, script->name, script->path, script->bundle);
    }
    return ok;
}

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    const struct part *part = ctx;
    return audit_objects_source(part->objects, resource, scope);
}

/* What the engine's scripts are loaded with. */
static void give_own(const struct script_host *engine, struct script_host *host)
{
    host->limits = engine->limits;
    host->trusted = engine->trusted;
    host->trusted_count = engine->trusted_count;
    host->lua_path = engine->lua_path;
    host->lua_path_count = engine->lua_path_count;
}

static void open_host(struct part *part)
{
    const struct script_host *engine = part->options->host;
    struct script_host *host = &part->dry.host;
    struct err err;
    dry_host_open_on(&part->dry, new_source, part);
    part->objects = audit_objects_new(part->dry.loop);
    part->ns = *part->order.namespace_ ? part->order.namespace_ : engine->default_namespace;
    host->default_namespace = part->ns;
    host->params = engine->params;
    host->print = on_print;
    host->failed = drop_failure;
    host->hooks_ctx = part;
    host->watch = cpu_watch_new(&err);
    audit_order_give(&part->order, host);
    if (part->order.is_own) give_own(engine, host);
}

static bool load_rules(struct part *part)
{
    struct err err;
    if (!(part->order.is_own ? load_own(part) : load_given(part))) return false;
    part->table = audit_table_new(part->order.passes);
    part->auditor = auditor_new(&(const struct auditor_options){.scripts = part->scripts,
                                                                .script_count = part->script_count,
                                                                .catalogue = part->options->catalogue,
                                                                .table = part->table,
                                                                .now_s = part->order.now_s,
                                                                .fixes = part->order.fixes},
                                &err);
    bool ok = part->auditor && audit_stream_put_rules(&part->out, part->table, &err);
    if (!ok) tell_trouble(part, err.text);
    return ok;
}

/* --- caches */

/* NULL for a kind that the server does not have: there are no objects of it. */
static struct kind *kind_of(struct part *part, const char *name)
{
    struct resource resource;
    struct err err;
    if (!catalogue_resolve(part->options->catalogue, str_of(name), &resource, &err)) {
        if (!resource_name_has_group(str_of(name))) tell_trouble(part, err.text);
        return NULL;
    }
    for (size_t i = 0; i < part->kind_count; i++) {
        if (!resource_equal(&part->kinds[i].resource, &resource)) continue;
        resource_clear(&resource);
        return &part->kinds[i];
    }
    part->kinds = xrealloc(part->kinds, (part->kind_count + 1) * sizeof *part->kinds);
    struct kind *kind = &part->kinds[part->kind_count++];
    *kind = (struct kind){.resource = resource};
    kind->cache = audit_cache_of(part->options->factory, &resource, part->ns, &kind->why);
    return kind;
}

static void note_rule(struct kind *kind, const char *id)
{
    buf_printf(&kind->rules, "%s%s", kind->rules.len ? ", " : "", id);
}

/* A rule that cannot see what it uses would find fault with everything. */
static bool sees_uses(struct part *part, const struct script_rule *rule)
{
    bool all = true;
    for (size_t i = 0; i < rule->use_count; i++) {
        struct kind *kind = kind_of(part, claim_spec(rule->uses[i].claim)->kind);
        if (!kind) continue;
        if (!kind->cache) note_rule(kind, rule->id);
        all &= kind->cache != NULL;
    }
    return all;
}

static void prepare_rule(struct part *part, const struct script_rule *rule, uint32_t number)
{
    if (!sees_uses(part, rule)) {
        auditor_leave_out(part->auditor, number);
        return;
    }
    for (size_t i = 0; i < rule->use_count; i++) {
        struct kind *kind = kind_of(part, claim_spec(rule->uses[i].claim)->kind);
        claim_hold(rule->uses[i].claim, false);
        if (kind) kind->used = true;
    }
    for (size_t i = 0; i < rule->kind_count; i++) {
        struct kind *kind = kind_of(part, claim_spec(rule->kinds[i])->kind);
        if (!kind) continue;
        if (kind->cache)
            kind->audited = true;
        else
            note_rule(kind, rule->id);
    }
}

/* Informers of a script's own are filled as what rules use; of the engine's scripts with what those have,
 * too, whatever they leave out of it. */
static void prepare_informers(struct part *part)
{
    const struct informer_claim *claim = NULL;
    while ((claim = shared_factory_next_claim(part->dry.host.factory, claim))) {
        struct kind *kind = claim_is_held(claim) ? NULL : kind_of(part, claim_spec(claim)->kind);
        if (!kind) continue;
        kind->used = true;
        if (!kind->cache) kind->partial = audit_cache_like(part->options->factory, &kind->resource);
        if (!kind->cache && !part->order.is_own) note_rule(kind, "an informer");
    }
}

static void tell_missing(struct part *part)
{
    for (size_t i = 0; i < part->kind_count; i++) {
        struct kind *kind = &part->kinds[i];
        struct buf text = {0};
        if (kind->rules.len == 0) continue;
        resource_name(&kind->resource, &text);
        buf_printf(&text, ": %s; not asked, or not about it: %s", buf_text(&kind->why),
                   buf_text(&kind->rules));
        tell_trouble(part, buf_text(&text));
        buf_clear(&text);
    }
}

static bool is_in_scope(const struct part *part, const struct kind *kind, const struct root *object)
{
    struct text text;
    return !*part->ns || !kind->resource.namespaced || str_is(root_namespace(object, &text), part->ns);
}

static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err) {}

static bool all_synced(const struct part *part)
{
    const struct informer_claim *claim = NULL;
    while ((claim = shared_factory_next_claim(part->dry.host.factory, claim)))
        if (claim_resource(claim) && !claim_has_synced(claim)) return false;
    return true;
}

/* Rules look up what they use in caches of their scripts, which are filled from the engine's. */
static void fill_caches(struct part *part)
{
    for (size_t i = 0; i < part->kind_count; i++) {
        const struct kind *kind = &part->kinds[i];
        struct root *object;
        size_t at = 0;
        struct informer_claim *cache = kind->cache ? kind->cache : kind->partial;
        if (!kind->used || !cache) continue;
        while ((object = indexer_next(claim_indexer(cache), &at)))
            if (is_in_scope(part, kind, object))
                audit_objects_add(part->objects,
                                  &(const struct audit_subject){.object = object, .file = STR("")});
    }
    shared_factory_resolve(part->dry.host.factory, part->options->catalogue, on_unknown, NULL);
    while (!all_synced(part)) loop_once(part->dry.loop, true);
}

/* --- objects */

static void look_at(struct part *part, const struct kind *kind, struct root *object)
{
    if (!is_in_scope(part, kind, object)) return;
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

bool audit_part(const struct audit_child_options *options, int order, int result)
{
    struct part part = {.options = options, .fd = result};
    struct err err;
    uint32_t number = 0;
    log_capture(on_log, &part);
    bool ok = audit_order_read(order, &part.order, &err);
    if (!ok) tell_trouble(&part, err.text);
    if (ok) {
        alarm(part.order.timeout_s < UINT_MAX ? (unsigned)part.order.timeout_s : UINT_MAX);
        open_host(&part);
        ok = load_rules(&part);
    }
    for (size_t s = 0; ok && s < part.script_count; s++)
        for (size_t i = 0; i < script_rule_count(part.scripts[s]); i++)
            prepare_rule(&part, script_rule(part.scripts[s], i), number++);
    if (ok) {
        prepare_informers(&part);
        tell_missing(&part);
        fill_caches(&part);
        limit_memory(part.order.memory_bytes);
    }
    for (size_t i = 0; ok && i < part.kind_count; i++)
        if (part.kinds[i].audited) look_at_kind(&part, &part.kinds[i]);
    if (ok) {
        tell_found(&part);
        audit_stream_put_end(&part.out);
    }
    flush(&part);
    return ok;
}
