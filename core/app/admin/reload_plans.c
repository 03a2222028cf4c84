/* The plans of what runs, for `kubelua plan`, with what of the engine's flags makes a difference when it
 * loads the same scripts; see admin_engine.h. */
#include "app/admin/admin_engine.h"

#include <string.h>

#include "base/text/json_out.h"
#include "engine/engine_internal.h"
#include "script/inventory/plan.h"
#include "script/rules/rule_params.h"
#include "script/vm/bundle.h"
#include "script/vm/limits.h"

/* Which scripts run that take it: one that would not any more is refused. */
static void put_takers(const struct engine *engine, const struct rule_param_given *given, struct buf *out)
{
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < engine->slots.count; i++) {
        const struct slot *slot = engine->slots.items[i];
        if (slot->current && rule_params_is_taken(given, slot->current)) json_text(out, NULL, slot->name);
    }
    json_close(out, ']');
}

static void put_params(const struct engine *engine, struct buf *out)
{
    const struct rule_params *params = engine->host.params;
    json_open(out, "ruleParams", '[');
    for (size_t i = 0; i < rule_params_count(params); i++) {
        const struct rule_param_given given = rule_params_at(params, i);
        json_open(out, NULL, '{');
        if (given.rule) json_text(out, "rule", given.rule);
        json_text(out, "name", given.name);
        json_text(out, "value", given.value);
        json_bool(out, "isJson", given.is_json);
        json_text(out, "source", given.source);
        put_takers(engine, &given, out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void put_settings(const struct engine *engine, struct buf *out)
{
    const struct script_host *host = &engine->host;
    json_open(out, "settings", '{');
    json_text(out, "namespace", host->default_namespace);
    json_bool(out, "elects", host->elects);
    json_text(out, "leaseNamespace", host->lease.namespace_);
    json_text(out, "leaseName", host->lease.name);
    json_open(out, "limits", '{');
    for (int i = 0; i < LIMIT_COUNT; i++) json_int(out, limit_name((enum limit)i), host->limits->values[i]);
    json_close(out, '}');
    json_open(out, "luaPath", '[');
    for (size_t i = 0; i < host->lua_path_count; i++) json_text(out, NULL, host->lua_path[i]);
    json_close(out, ']');
    put_params(engine, out);
    json_close(out, '}');
}

static void put_plan(const struct slot *slot, struct buf *out)
{
    char sources[BUNDLE_HASH_LEN + 1];
    bundle_sources_hash(script_bundle(slot->current), sources);
    json_open(out, NULL, '{');
    json_text(out, "name", slot->name);
    json_text(out, "path", slot->path);
    json_int(out, "generation", (int64_t)script_generation(slot->current));
    json_text(out, "sources", sources);
    json_bool(out, "trusted", script_is_trusted(slot->current));
    buf_puts(out, ",\"plan\":");
    plan_write_json(script_plan(slot->current), out);
    json_close(out, '}');
}

void admin_put_plans(const struct admin_engine *admin, struct buf *out)
{
    const struct engine *engine = admin->engine;
    put_settings(engine, out);
    json_open(out, "scripts", '[');
    for (size_t i = 0; i < engine->slots.count; i++)
        if (engine->slots.items[i]->current) put_plan(engine->slots.items[i], out);
    json_close(out, ']');
}
