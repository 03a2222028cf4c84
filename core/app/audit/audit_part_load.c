/* The rules of an order, loaded in a child; see audit_part_internal.h. */
#include "app/audit/audit_part_internal.h"
#include "audit/found/stream.h"
#include "base/mem.h"
#include "script/vm/bundle.h"
#include "script/vm/cpu_watch.h"

static bool load(struct part *part, const char *name, const char *path, struct bundle *bundle)
{
    struct err err;
    const struct script_source source = {
        .path = path, .name = name, .bundle = bundle_ref(bundle), .generation = 1};
    struct script *script = script_prepare(&part->dry.host, &source, &err);
    if (script)
        part->scripts[part->script_count++] = script;
    else
        part_tell_trouble(part, err.text);
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
        part_tell_trouble(part, "no script of the engine has a rule (k8s.rule)");
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

/* The report has it. */
static void drop_failure(void *ctx, const char *call, const char *error, const char *traceback,
                         const struct log_field *about)
{
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
    host->print = part_print;
    host->failed = drop_failure;
    host->hooks_ctx = part;
    host->watch = cpu_watch_new(&err);
    audit_order_give(&part->order, host);
    if (part->order.is_own) give_own(engine, host);
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
                                                                    .now_s = part->order.now_s},
                                    &err);
    bool ok = part->auditor && audit_stream_put_rules(&part->out, part->table, &err);
    if (!ok) part_tell_trouble(part, err.text);
    return ok;
}
