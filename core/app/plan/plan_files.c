/* Files of `kubelua plan` as values of Lua; see plan_files.h. */
#include "app/plan/plan_files.h"

#include <lauxlib.h>
#include <stdlib.h>

#include "app/options/builtin_rules.h"
#include "base/mem.h"
#include "base/series/user_metric.h"
#include "engine/load_host.h"
#include "engine/reload/script_files.h"
#include "script/generation/state_copy.h"
#include "script/inventory/inventory.h"
#include "script/inventory/metrics.h"
#include "script/params/declared.h"
#include "script/vm/bundle.h"
#include "script/vm/limits.h"
#include "tool/tool.h"

/* The texts that the settings point to are those of the arguments of load, which are its environment. */
struct plan_files {
    struct load_host dry;
    struct engine_settings settings;
    struct limits limits;
    struct params *params;
    struct flag_list trusted, lua_path;
    struct script **scripts; /* NULL: it does not load */
    size_t count;
};

enum { FILES = 1, SETTINGS };

static const char class[] = "plan.files";

/* --- arguments */

/* Borrowed from the table at `idx`; NULL when the field is no text. */
static const char *text_field(lua_State *L, int idx, const char *name)
{
    lua_getfield(L, idx, name);
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    lua_pop(L, 1);
    return text;
}

static bool bool_field(lua_State *L, int idx, const char *name)
{
    lua_getfield(L, idx, name);
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

/* The texts of the array on top, which is taken off; borrowed from it. */
static struct flag_list take_list(lua_State *L)
{
    struct flag_list list = {.count = lua_objlen(L, -1)};
    list.items = xcalloc(list.count + 1, sizeof *list.items);
    for (size_t i = 0; i < list.count; i++) {
        lua_rawgeti(L, -1, (int)i + 1);
        list.items[i] = lua_tostring(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return list;
}

static struct flag_list list_field(lua_State *L, int idx, const char *name)
{
    lua_getfield(L, idx, name);
    return take_list(L);
}

static int int_field(lua_State *L, int idx, const char *name)
{
    lua_getfield(L, idx, name);
    int value = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return value;
}

static struct param_given param_at(lua_State *L, int idx)
{
    return (struct param_given){.script = text_field(L, idx, "script"),
                                .rule = text_field(L, idx, "rule"),
                                .name = text_field(L, idx, "name"),
                                .value = text_field(L, idx, "value"),
                                .is_json = bool_field(L, idx, "isJson"),
                                .order = int_field(L, idx, "order"),
                                .source = text_field(L, idx, "source")};
}

/* --- finding */

static int l_find(lua_State *L)
{
    struct script_files found;
    struct err err;
    lua_pushvalue(L, 1);
    struct flag_list arguments = take_list(L);
    char *builtin = builtin_rules_folder();
    const struct script_search search = {arguments.items, arguments.count, lua_toboolean(L, 2), builtin};
    bool ok = script_files_find(&search, &found, &err);
    flag_list_clear(&arguments);
    free(builtin);
    if (!ok) return tool_raise(L, &err);
    lua_newtable(L);
    for (size_t i = 0; i < found.count; i++) {
        lua_newtable(L);
        tool_set_text(L, "path", found.paths[i]);
        tool_set_text(L, "name", found.names[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    script_files_clear(&found);
    return 1;
}

static int l_is_folder(lua_State *L)
{
    lua_pushboolean(L, script_files_is_folder(luaL_checkstring(L, 1)));
    return 1;
}

static int l_classes(lua_State *L)
{
    lua_newtable(L);
    for (int i = 0; i < INVENTORY_CLASSES; i++) {
        lua_pushstring(L, inventory_class_name((enum inventory_class)i));
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* --- loading */

static void take_limits(lua_State *L, struct plan_files *p)
{
    p->limits = limits_default;
    lua_getfield(L, SETTINGS, "limits");
    for (int i = 0; i < LIMIT_COUNT; i++) {
        lua_getfield(L, -1, limit_name((enum limit)i));
        if (lua_type(L, -1) == LUA_TNUMBER) p->limits.values[i] = (int64_t)lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void take_params(lua_State *L, struct plan_files *p)
{
    p->params = params_new();
    lua_getfield(L, SETTINGS, "params");
    for (int i = 1; i <= (int)lua_objlen(L, -1); i++) {
        lua_rawgeti(L, -1, i);
        const struct param_given given = param_at(L, lua_gettop(L));
        params_put(p->params, &given);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void take_settings(lua_State *L, struct plan_files *p)
{
    take_limits(L, p);
    take_params(L, p);
    p->trusted = list_field(L, SETTINGS, "trusted");
    p->lua_path = list_field(L, SETTINGS, "luaPath");
    p->settings =
        (struct engine_settings){.notes_functions = true,
                                 .lease = {.namespace_ = text_field(L, SETTINGS, "leaseNamespace"),
                                           .name = text_field(L, SETTINGS, "leaseName"),
                                           .times = leader_times_default},
                                 .lacks_state_files = nonempty(text_field(L, SETTINGS, "lacksStateFiles")),
                                 .elects = bool_field(L, SETTINGS, "elects"),
                                 .default_namespace = text_field(L, SETTINGS, "namespace"),
                                 .limits = &p->limits,
                                 .params = p->params,
                                 .trusted = p->trusted.items,
                                 .trusted_count = p->trusted.count,
                                 .lua_path = p->lua_path.items,
                                 .lua_path_count = p->lua_path.count};
}

static void push_plan(lua_State *L, const struct inventory *plan)
{
    lua_newtable(L);
    for (size_t i = 0; i < plan->count; i++) {
        const struct inventory_entry *entry = &plan->items[i];
        lua_newtable(L);
        tool_set_text(L, "class", inventory_class_name(entry->class));
        tool_set_text(L, "key", entry->key);
        tool_set_text(L, "detail", entry->detail);
        tool_set_text(L, "file", entry->file);
        lua_pushinteger(L, entry->line);
        lua_setfield(L, -2, "line");
        lua_rawseti(L, -2, (int)i + 1);
    }
}

/* The file is on top. */
static struct script *load_one(lua_State *L, const struct load_host *dry)
{
    int file = lua_gettop(L);
    const struct script_source source = {
        .path = text_field(L, file, "path"), .name = text_field(L, file, "name"), .generation = 1};
    char sources[BUNDLE_HASH_LEN + 1];
    struct err err;
    struct script *script = script_prepare(&dry->host, &source, &err);
    if (!script) {
        tool_set_text(L, "error", err.text);
        lua_pushboolean(L, err.code == ERR_IO);
        lua_setfield(L, -2, "unreadable");
        return NULL;
    }
    bundle_sources_hash(script_bundle(script), sources);
    tool_set_text(L, "sources", sources);
    push_plan(L, script_inventory(script));
    lua_setfield(L, -2, "plan");
    return script;
}

static int l_load(lua_State *L)
{
    luaL_checktype(L, FILES, LUA_TTABLE);
    luaL_checktype(L, SETTINGS, LUA_TTABLE);
    struct plan_files *p = lua_newuserdata(L, sizeof *p);
    *p = (struct plan_files){.count = lua_objlen(L, FILES)};
    lua_createtable(L, 2, 0);
    for (int i = FILES; i <= SETTINGS; i++) {
        lua_pushvalue(L, i);
        lua_rawseti(L, -2, i);
    }
    lua_setfenv(L, -2);
    take_settings(L, p);
    p->scripts = xcalloc(p->count + 1, sizeof(struct script *));
    load_host_open(&p->dry, &p->settings);
    luaL_setmetatable(L, class);
    for (size_t i = 0; i < p->count; i++) {
        lua_rawgeti(L, FILES, (int)i + 1);
        p->scripts[i] = load_one(L, &p->dry);
        lua_pop(L, 1);
    }
    return 1;
}

static int loaded_free(lua_State *L)
{
    struct plan_files *p = luaL_checkudata(L, 1, class);
    for (size_t i = 0; i < p->count; i++)
        if (p->scripts[i]) script_free(p->scripts[i]);
    load_host_close(&p->dry);
    free(p->scripts);
    params_free(p->params);
    flag_list_clear(&p->trusted);
    flag_list_clear(&p->lua_path);
    return 0;
}

/* --- what was loaded */

/* NULL when the file did not load. */
static struct script *script_at(lua_State *L)
{
    const struct plan_files *p = luaL_checkudata(L, 1, class);
    size_t i = (size_t)luaL_checkinteger(L, 2) - 1;
    luaL_argcheck(L, i < p->count, 2, "no such file");
    return p->scripts[i];
}

static int loaded_place(lua_State *L)
{
    const struct script *script = script_at(L);
    int line;
    struct str hash = str_of(luaL_checkstring(L, 3));
    const char *file = script ? inventory_function_place(script_inventory(script), hash, &line) : NULL;
    if (!file) return 0;
    lua_pushfstring(L, "%s:%d", file, line);
    return 1;
}

static int push_error(lua_State *L, const struct err *err)
{
    lua_pushstring(L, err->text);
    return 1;
}

static int loaded_reject_version(lua_State *L)
{
    const struct inventory *plan = script_inventory(script_at(L));
    const char *state = luaL_checkstring(L, 3);
    struct err err = {0};
    state_table_reject_version(inventory_find(plan, INVENTORY_STATE, str_of(state)), state,
                               (int)luaL_checkinteger(L, 4), (int)luaL_checkinteger(L, 5), &err);
    return push_error(L, &err);
}

static int loaded_metric_clash(lua_State *L)
{
    static const char *const kinds[] = {
        [FAMILY_COUNTER] = "counter", [FAMILY_GAUGE] = "gauge", [FAMILY_HISTOGRAM] = "histogram", NULL};
    const struct inventory *plan = script_inventory(script_at(L));
    const char *metric = luaL_checkstring(L, 3), *other = luaL_checkstring(L, 5);
    enum family_kind kind = (enum family_kind)luaL_checkoption(L, 4, NULL, kinds),
                     other_kind = (enum family_kind)luaL_checkoption(L, 6, NULL, kinds);
    struct err err = {0};
    if (!user_metric_names_clash(metric, kind, other, other_kind)) return 0;
    user_metric_refuse(metric, other, luaL_checkstring(L, 7), &err);
    metrics_refuse(plan, metric, &err);
    return push_error(L, &err);
}

static int loaded_takes(lua_State *L)
{
    const struct script *script = script_at(L);
    const struct param_given given = param_at(L, 3);
    lua_pushboolean(L, script && param_is_taken(&given, script));
    return 1;
}

/* In the words of a reload. */
static int loaded_reject_param(lua_State *L)
{
    const struct plan_files *p = luaL_checkudata(L, 1, class);
    const struct param_given given = param_at(L, 2);
    struct script **scripts = xcalloc(p->count + 1, sizeof(struct script *));
    struct params *one = params_new();
    struct err err = {0};
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->scripts[i]) scripts[count++] = p->scripts[i];
    params_put(one, &given);
    params_check(one, scripts, count, &err);
    params_free(one);
    free(scripts);
    return push_error(L, &err);
}

void plan_files_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"find", l_find}, {"is_folder", l_is_folder}, {"classes", l_classes}, {"load", l_load}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"place", loaded_place},
                                       {"reject_version", loaded_reject_version},
                                       {"metric_clash", loaded_metric_clash},
                                       {"takes", loaded_takes},
                                       {"reject_param", loaded_reject_param},
                                       {"__gc", loaded_free},
                                       {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    tool_class(L, class, methods);
}
