/* Scripts as tables; see script_facts.h. */
#include "app/check/script_facts.h"

#include <stdlib.h>
#include <string.h>

#include "app/check/script_settings.h"
#include "base/mem.h"
#include "engine/load_host.h"
#include "engine/state_maps.h"
#include "informer/shared/claim_index.h"
#include "informer/shared/handler_options.h"
#include "object/pack/projection.h"
#include "object/value/path.h"
#include "object/value/selector.h"
#include "script/caches/informer_options.h"
#include "script/generation/script.h"
#include "script/generation/state_keep.h"
#include "script/inventory/inventory.h"
#include "script/rules/rule.h"
#include "script/server/declared.h"
#include "script/vm/bundle.h"
#include "tool/tool.h"

/* Sets a string that does not end with a NUL. */
static void set_str(lua_State *L, const char *name, struct str text)
{
    lua_pushlstring(L, text.p, text.n);
    lua_setfield(L, -2, name);
}

/* Sets `places`: where things were registered, { file, line } by the singular name of the class and by the
 * key; [1] is the first of a class. */
static void set_places(lua_State *L, const struct inventory *plan)
{
    lua_newtable(L);
    for (size_t i = 0; i < plan->count; i++) {
        const struct inventory_entry *entry = &plan->items[i];
        if (!entry->file) continue;
        lua_createtable(L, 0, 2);
        tool_set_text(L, "file", entry->file);
        lua_pushinteger(L, entry->line);
        lua_setfield(L, -2, "line");
        lua_getfield(L, -2, inventory_class_name(entry->class));
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            lua_newtable(L);
            lua_pushvalue(L, -1);
            lua_setfield(L, -4, inventory_class_name(entry->class));
            lua_pushvalue(L, -2);
            tool_append(L);
        }
        lua_insert(L, -2);
        lua_setfield(L, -2, entry->key);
        lua_pop(L, 1);
    }
    lua_setfield(L, -2, "places");
}

/* Sets `sources`: { path, text } of the script's file and of the modules that it required. */
static void set_sources(lua_State *L, struct bundle *bundle)
{
    lua_newtable(L);
    for (size_t i = 0; i < bundle_count(bundle); i++) {
        struct str text;
        struct err err;
        if (!bundle_text(bundle, bundle_path(bundle, i), &text, &err)) continue;
        lua_createtable(L, 0, 2);
        tool_set_text(L, "path", bundle_path(bundle, i));
        set_str(L, "text", text);
        tool_append(L);
    }
    lua_setfield(L, -2, "sources");
}

/* --- informers */

/* Pushes what an informer is of; `text` is its key in `places`. */
static void push_informer(lua_State *L, const struct informer_spec *spec)
{
    struct buf text = {0};
    informer_spec_describe(spec, &text);
    lua_newtable(L);
    tool_set_text(L, "text", buf_text(&text));
    tool_set_text(L, "kind", spec->kind);
    tool_set_text(L, "namespace_selector", spec->namespace_selector);
    tool_set_text(L, "selector", spec->label_selector);
    tool_set_text(L, "field_selector", spec->field_selector);
    if (spec->projection) {
        tool_set_text(L, "keeps", projection_text(spec->projection));
        tool_set_bool(L, "keeps_metadata", projection_is_metadata(spec->projection));
    }
    tool_set_bool(L, "transforms", spec->transform.fn != NULL);
    lua_newtable(L);
    for (size_t i = 0; i < spec->namespace_count; i++) {
        lua_pushstring(L, spec->namespaces[i]);
        tool_append(L);
    }
    if (!spec->namespace_count && *spec->namespace_) {
        lua_pushstring(L, spec->namespace_);
        tool_append(L);
    }
    lua_setfield(L, -2, "namespaces");
    buf_clear(&text);
}

static void append_index(void *ctx, const char *name, const char *path)
{
    lua_State *L = ctx;
    lua_createtable(L, 0, 2);
    tool_set_text(L, "name", name);
    tool_set_text(L, "path", path);
    tool_append(L);
}

static void set_informers(lua_State *L, const struct script *script)
{
    lua_newtable(L);
    for (size_t i = 0; i < script_claim_count(script); i++) {
        push_informer(L, claim_spec(script_claim(script, i)));
        lua_newtable(L);
        claim_each_path_index(script_claim(script, i), append_index, L);
        lua_setfield(L, -2, "indexes");
        tool_append(L);
    }
    lua_setfield(L, -2, "informers");
}

/* --- handlers */

/* As scripts write it. */
static void append_namespace(void *ctx, const char *name, bool is_out)
{
    lua_State *L = ctx;
    lua_pushfstring(L, "%s%s", is_out ? "!" : "", name);
    tool_append(L);
}

static void set_namespaces(lua_State *L, const struct filter *filter)
{
    lua_newtable(L);
    if (filter) filter_each_namespace(filter, append_namespace, L);
    lua_setfield(L, -2, "namespaces");
}

static void append_condition(lua_State *L, const struct path *path, bool is_changed)
{
    lua_createtable(L, 0, 2);
    set_str(L, "path", path_text(path));
    tool_set_bool(L, "is_changed", is_changed);
    tool_append(L);
}

/* One that agrees with what is not there is no condition on what is. */
static void append_where(void *ctx, const struct path *path, bool with_absent)
{
    if (!with_absent) append_condition(ctx, path, false);
}

static void append_handler(void *ctx, const struct script_handler_status *handler)
{
    lua_State *L = ctx;
    const struct handler_options *options = handler->options;
    const struct filter *filter = options ? options->filter : NULL;
    lua_newtable(L);
    tool_set_text(L, "id", handler->id);
    if (filter && filter_selector(filter)) set_str(L, "selector", selector_text(filter_selector(filter)));
    set_namespaces(L, filter);
    lua_newtable(L);
    if (filter) filter_each_path(filter, append_where, L);
    for (size_t i = 0; options && i < options->changed_count; i++)
        append_condition(L, options->changed[i], true);
    lua_setfield(L, -2, "conditions");
    push_informer(L, handler->informer);
    lua_setfield(L, -2, "informer");
    tool_append(L);
}

/* --- rules */

static void append_rule(lua_State *L, const struct script_rule *rule)
{
    lua_newtable(L);
    tool_set_text(L, "id", rule->id);
    tool_set_bool(L, "has_fix", rule->has_fix);
    set_namespaces(L, rule->options ? rule->options->filter : NULL);
    lua_newtable(L);
    for (size_t i = 0; i < rule->kind_count; i++) {
        push_informer(L, claim_spec(rule->kinds[i]));
        tool_append(L);
    }
    lua_setfield(L, -2, "kinds");
    lua_newtable(L);
    for (size_t i = 0; i < rule->use_count; i++) {
        lua_createtable(L, 0, 3);
        tool_set_text(L, "name", rule->uses[i].name);
        tool_set_text(L, "kind", claim_spec(rule->uses[i].claim)->kind);
        tool_set_text(L, "index", rule->uses[i].index);
        tool_append(L);
    }
    lua_setfield(L, -2, "uses");
    tool_append(L);
}

/* --- the rest */

static void set_declared(lua_State *L, const char *name, const struct declarations *declared)
{
    lua_newtable(L);
    for (size_t i = 0; i < declared->count; i++) {
        lua_createtable(L, 0, 5);
        tool_set_text(L, "kind", declared->items[i].kind);
        if (declared->items[i].group) tool_set_text(L, "group", declared->items[i].group);
        tool_set_text(L, "subresource", declared->items[i].subresource);
        tool_set_text(L, "verb", strrchr(declared->items[i].text, ':') + 1);
        tool_set_text(L, "text", declared->items[i].text);
        tool_append(L);
    }
    lua_setfield(L, -2, name);
}

static void set_queues(lua_State *L, const struct script *script)
{
    lua_newtable(L);
    for (size_t i = 0; i < script_queue_count(script); i++) {
        struct script_queue_status queue;
        script_get_queue_status(script, i, &queue);
        lua_createtable(L, 0, 2);
        tool_set_text(L, "name", queue.name);
        tool_set_bool(L, "has_workers", queue.workers > 0);
        tool_append(L);
    }
    lua_setfield(L, -2, "queues");
}

static void set_lease(lua_State *L, const struct leadership *leadership)
{
    struct leadership_status status;
    if (!leadership) return;
    leadership_get_status(leadership, &status);
    lua_createtable(L, 0, 2);
    tool_set_text(L, "namespace", status.namespace_);
    tool_set_text(L, "name", status.name);
    lua_setfield(L, -2, "lease");
}

/* The ConfigMap of its states, and the state that needs it. */
static void set_state_map(lua_State *L, const struct script *script, const char *namespace_)
{
    char place[STATE_PLACE_MAX + 1], name[STATE_PLACE_MAX + sizeof STATE_MAP_PREFIX];
    const char *state = state_keep_in_map(script);
    if (!state) return;
    state_place_of(script_name(script), place);
    snprintf(name, sizeof name, STATE_MAP_PREFIX "%s", place);
    lua_createtable(L, 0, 3);
    tool_set_text(L, "namespace", namespace_);
    tool_set_text(L, "name", name);
    tool_set_text(L, "state", state);
    lua_setfield(L, -2, "state_map");
}

static void set_paths(lua_State *L, const struct read_paths *paths)
{
    lua_createtable(L, (int)paths->count, 0);
    for (size_t i = 0; i < paths->count; i++) {
        lua_pushstring(L, paths->items[i]);
        tool_append(L);
    }
    lua_setfield(L, -2, "paths");
}

/* --- all of them */

static void set_script(lua_State *L, const struct script *script, const char *lease_namespace)
{
    set_places(L, script_inventory(script));
    set_sources(L, script_bundle(script));
    set_informers(L, script);
    lua_newtable(L);
    script_each_handler(script, append_handler, L);
    lua_setfield(L, -2, "handlers");
    lua_newtable(L);
    for (size_t i = 0; i < script_rule_count(script); i++) append_rule(L, script_rule(script, i));
    lua_setfield(L, -2, "rules");
    set_queues(L, script);
    set_declared(L, "reads", script_declared_reads(script));
    set_paths(L, script_declared_paths(script));
    set_declared(L, "writes", script_declared_writes(script));
    script_settings_set(L, script);
    set_lease(L, script_leadership(script));
    set_state_map(L, script, lease_namespace);
    tool_set_bool(L, "records_events", script_records_events(script));
}

/* A script that does not load hides nothing of the others. Of one nobody knows what its rules would take. */
static void load_all(lua_State *L, const struct script_host *host, const struct script_files *files,
                     const struct params *params)
{
    struct script **scripts = xcalloc(files->count + 1, sizeof *scripts);
    size_t count = 0;
    struct err err;
    lua_newtable(L);
    for (size_t i = 0; i < files->count; i++) {
        struct script *script = script_load(host, files->paths[i], files->names[i], &err);
        lua_newtable(L);
        tool_set_text(L, "path", files->paths[i]);
        if (script) {
            set_script(L, script, host->lease.namespace_);
            scripts[count++] = script;
        } else {
            tool_set_text(L, "error", err.text);
            tool_set_bool(L, "unreadable", err.code == ERR_IO);
        }
        tool_append(L);
    }
    lua_setfield(L, -2, "scripts");
    if (count == files->count && !params_check(params, scripts, count, &err))
        tool_set_text(L, "params_error", err.text);
    for (size_t i = 0; i < count; i++) script_free(scripts[i]);
    free(scripts);
}

void script_facts_set(lua_State *L, const struct options *options, const struct script_files *files,
                      const char *here)
{
    struct load_host dry;
    const char *ns = options->all_namespaces ? NULL : options->cluster.namespace_;
    struct engine_settings settings = {.lease = leader_flags_lease(&options->leader, here),
                                       .elects = options->leader.elect,
                                       .default_namespace = ns ? ns : "",
                                       .lacks_params = true};
    options_give_scripts(options, &settings);
    load_host_open(&dry, &settings);
    load_all(L, &dry.host, files, options->given_params);
    load_host_close(&dry);
    tool_set_text(L, "namespace", settings.default_namespace);
}
