/* raw.state: k8s.state and state tables. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "script/generation/state_copy.h"
#include "script/generation/state_keep.h"
#include "script/view/state_table.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

#define METHOD "sync"

enum { STATES_MAX = 100, NAME_MAX_BYTES = 100, VERSION_MAX = 1000000000 };

static int version_arg(lua_State *L, int idx)
{
    if (lua_isnil(L, idx)) return 1;
    lua_Number version = lua_tonumber(L, idx);
    if (!(version >= 0 && version <= VERSION_MAX) || version != floor(version))
        script_raise(L, "k8s.state: version must be a whole number of at least 0");
    return (int)version;
}

/* Its table is on top of the stack. */
static struct state_table *declare(lua_State *L, const char *name, int version)
{
    struct state_tables *tables = script_of(L)->own.states;
    lua_pushvalue(L, -1);
    int table = luaL_ref(L, LUA_REGISTRYINDEX);
    struct state_table *state_table = array_add(tables->items, tables->count);
    *state_table = (struct state_table){
        .name = xstrdup(name), .version = version, .table = table, .migrate = LUA_NOREF, .run = LUA_NOREF};
    return state_table;
}

static const char *name_arg(lua_State *L, int idx)
{
    struct str name = arg_str(L, idx, "k8s.state: the name");
    if (name.n == 0 || name.n > NAME_MAX_BYTES)
        script_raise(L, "k8s.state: the name must have 1 to %d bytes", NAME_MAX_BYTES);
    return name.p;
}

static const char *name_of(lua_State *L, int idx)
{
    const struct state_table_node *node = lua_touserdata(L, idx);
    return script_of(L)->own.states->items[node->of].name;
}

static __attribute__((noreturn)) void refuse_method(lua_State *L, const char *name)
{
    script_raise(L, "k8s.state: %s: " METHOD " is the method of a state with keep, and cannot be a key",
                 name);
}

static enum state_keep_where keep_arg(lua_State *L, int idx)
{
    struct str keep = arg_str_opt(L, idx, "k8s.state: keep");
    if (!keep.p) return KEEP_NOWHERE;
    if (str_is(keep, "file")) return KEEP_FILE;
    if (str_is(keep, "configmap")) return KEEP_CONFIGMAP;
    script_raise(L, "k8s.state: keep must be \"file\" or \"configmap\", not \"%.40s\"", keep.p);
}

/* Makes the last state one that is kept: it is on the stack, and above it its method, which this pops. */
static void keep_last(lua_State *L, enum state_keep_where keep)
{
    struct state_tables *tables = script_of(L)->own.states;
    if (tables->sync == 0) {
        lua_pushvalue(L, -1);
        tables->sync = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_pop(L, 1);
    lua_getfenv(L, -1);
    lua_getfield(L, -1, METHOD);
    if (!lua_isnil(L, -1)) refuse_method(L, tables->items[tables->count - 1].name);
    lua_pop(L, 2);
    tables->items[tables->count - 1].keep = keep;
    state_keep_declare(L);
}

/* declare(name, has options, version, init, migrate, run, keep, sync): the state table. Without options that
 * of an earlier call. run(box) calls migrate; both or none. `sync` is the method of one that is kept. */
static int l_state_declare(lua_State *L)
{
    const struct script *script = script_of(L);
    arg_loading(L, "k8s.state");
    lua_settop(L, 8);
    const char *name = name_arg(L, 1);
    int version = version_arg(L, 3);
    enum state_keep_where keep = keep_arg(L, 7);
    const struct state_table *known = state_table_find(script, str_of(name));
    if (known && lua_toboolean(L, 2)) script_raise(L, "k8s.state: %s is already declared", name);
    if (known) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, known->table);
        lua_pushboolean(L, 0);
        return 2;
    }
    if (script->own.states->count == STATES_MAX)
        script_raise(L, "k8s.state: a script can have at most %d states", STATES_MAX);
    int migrate = LUA_NOREF, run = LUA_NOREF;
    if (lua_isfunction(L, 5)) {
        lua_pushvalue(L, 6);
        run = luaL_ref(L, LUA_REGISTRYINDEX);
        lua_pushvalue(L, 5);
        migrate = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_pushvalue(L, 4);
    if (lua_isnil(L, 4)) lua_newtable(L);
    state_table_push_root(L, name, script->own.states->count, lua_gettop(L));
    struct state_table *state_table = declare(L, name, version);
    state_table->migrate = migrate;
    state_table->run = run;
    lua_pushvalue(L, 8);
    if (keep != KEEP_NOWHERE)
        keep_last(L, keep);
    else
        lua_pop(L, 1);
    lua_pushboolean(L, 1);
    return 2;
}

static void touch(lua_State *L, int idx)
{
    struct script *script = script_of(L);
    const struct state_table_node *node = lua_touserdata(L, idx);
    struct state_table *state_table = &script->own.states->items[node->of];
    script->own.states->touched++;
    state_table->touched++;
    if (state_table->keep != KEEP_NOWHERE) state_keep_touched(script);
}

/* content(value): what is behind a state table, nil for anything else. Never handed to a script. */
static int l_state_content(lua_State *L)
{
    if (!state_table_test(L, 1)) return 0;
    touch(L, 1);
    lua_getfenv(L, 1);
    return 1;
}

/* value(state table, key, value): what is to be put into its content. */
static int l_state_value(lua_State *L)
{
    lua_settop(L, 3);
    state_table_push_value(L, 1, 2, 3);
    return 1;
}

/* sync(state): waits until what it has now is stored. Returns true, or nil, err. */
static int l_state_sync(lua_State *L)
{
    const struct state_table_node *node = state_table_test(L, 1);
    if (!node || node->depth > 0 || script_of(L)->own.states->items[node->of].keep == KEEP_NOWHERE)
        script_raise(L, "sync: call it as state:sync(), on what k8s.state returned for a state with keep");
    return state_keep_sync(L, node->of);
}

/* --- metamethods: the first argument is ours */

/* Returns whether the key at 2 names the method of a state that is kept, which is at 1. */
static bool is_method(lua_State *L)
{
    const struct state_table_node *node = lua_touserdata(L, 1);
    if (node->depth > 0 || script_of(L)->own.states->items[node->of].keep == KEEP_NOWHERE) return false;
    return lua_type(L, 2) == LUA_TSTRING && strcmp(own_text(L, 2), METHOD) == 0;
}

static int l_state_index(lua_State *L)
{
    lua_getfenv(L, 1);
    lua_pushvalue(L, 2);
    lua_rawget(L, -2);
    if (lua_isnil(L, -1) && is_method(L)) lua_rawgeti(L, LUA_REGISTRYINDEX, script_of(L)->own.states->sync);
    return 1;
}

static int l_state_newindex(lua_State *L)
{
    if (is_method(L)) refuse_method(L, name_of(L, 1));
    state_table_push_value(L, 1, 2, 3);
    touch(L, 1);
    lua_getfenv(L, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 4);
    lua_rawset(L, -3);
    return 0;
}

static int l_state_len(lua_State *L)
{
    lua_getfenv(L, 1);
    lua_pushinteger(L, (lua_Integer)lua_objlen(L, -1));
    return 1;
}

static int l_state_tostring(lua_State *L)
{
    const struct state_table_node *node = lua_touserdata(L, 1);
    const char *name = script_of(L)->own.states->items[node->of].name;
    if (node->depth)
        lua_pushfstring(L, "table in state %s: %p", name, (const void *)node);
    else
        lua_pushfstring(L, "state %s", name);
    return 1;
}

static void bind_state(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__index", l_state_index},
                                    {"__newindex", l_state_newindex},
                                    {"__len", l_state_len},
                                    {"__tostring", l_state_tostring},
                                    {NULL, NULL}};
    static const luaL_Reg verbs[] = {{"declare", l_state_declare},
                                     {"content", l_state_content},
                                     {"value", l_state_value},
                                     {"sync", l_state_sync},
                                     {NULL, NULL}};
    class_define(L, CLASS_STATE, "state table", meta, NULL);
    lua_pop(L, 1);
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "state");
}

const struct feature feature_state = {.parts = {"state"},
                                      .bind = bind_state,
                                      .classes = CLASS_BIT(CLASS_STATE),
                                      FEATURE_OWNS(states),
                                      .end = state_copy_drop,
                                      .let_go = kept_states_let_go,
                                      .close = state_tables_clear};

/* --- raw.reload: what a script says of its own reloads */

/* on_reload(replay) */
static int l_reload_on_reload(lua_State *L)
{
    static const char *const names[] = {
        [REPLAY_CHANGED] = "changed", [REPLAY_NONE] = "none", [REPLAY_ALL] = "all"};
    struct script *script = script_of(L);
    arg_loading(L, "k8s.on_reload");
    struct str replay = arg_str_opt(L, 1, "k8s.on_reload: replay");
    for (int i = 0; replay.p && i < 3; i++)
        if (str_is(replay, names[i])) {
            script->load.replay = (enum script_replay)i;
            return 0;
        }
    if (replay.p)
        script_raise(L, "k8s.on_reload: replay must be \"changed\", \"none\" or \"all\", not \"%.40s\"",
                     replay.p);
    script->load.replay = REPLAY_CHANGED;
    return 0;
}

static void bind_reload(lua_State *L)
{
    lua_newtable(L);
    lua_pushcfunction(L, l_reload_on_reload);
    lua_setfield(L, -2, "on_reload");
    lua_setfield(L, -2, "reload");
}

const struct feature feature_reload = {.parts = {"reload"}, .bind = bind_reload};
