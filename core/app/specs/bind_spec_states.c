/* More of raw.test: states that scripts keep, as tables of the spec, and what they published; see
 * bind_spec.c. */
#include <stdint.h>

#include "app/specs/bind_spec_internal.h"
#include "app/specs/spec_sinks.h"
#include "app/specs/spec_states.h"
#include "script/generation/state_keep.h"
#include "script/generation/state_record.h"
#include "script/generation/state_walk.h"
#include "script/view/state_table.h"
#include "script/vm/args.h"
#include "tool/tool.h"

enum { VERSION_MAX = 1000000000 };

/* stored(engine, script, state): the record, or nil */
static int l_stored(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    const char *script = arg_str(L, 2, "script").p, *state = arg_str(L, 3, "env:stored: name").p;
    struct str bytes = spec_states_get(engine->states, script, state);
    if (!bytes.p) return 0;
    lua_pushlstring(L, bytes.p, bytes.n);
    return 1;
}

/* store(engine, script, state, record) */
static int l_store(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    const char *script = arg_str(L, 2, "script").p, *state = arg_str(L, 3, "test.load: stored: name").p;
    spec_states_put(engine->states, script, state, arg_bytes(L, 4, "test.load: stored: content"));
    return 0;
}

/* kept(engine): a set of the names of states that its scripts keep */
static int l_kept(lua_State *L)
{
    const struct spec_engine *engine = spec_engine_arg(L);
    const struct script *script;
    struct state_keep_status status;
    lua_newtable(L);
    for (size_t i = 0; (script = spec_engine_script(engine, i)); i++) {
        for (size_t j = 0; j < state_keep_count(script); j++) {
            state_keep_get_status(script, j, &status);
            lua_pushboolean(L, true);
            lua_setfield(L, -2, status.name);
        }
    }
    return 1;
}

/* decode(record): content and version; nil and why it is none */
static int l_decode(lua_State *L)
{
    struct state_record record;
    struct err err;
    if (!state_record_read(arg_bytes(L, 1, "record"), &record, &err)) return spec_push_result(L, false, &err);
    struct buf *body = script_scratch(script_of(L));
    buf_str(body, record.body);
    struct state_walk walk;
    lua_settop(L, 0); /* the walk has the stack for itself */
    state_walk_init(&walk, body, LUA_NOREF, 0);
    walk.end_ns = INT64_MAX;
    state_walk_read(L, &walk);
    state_walk_end(L, &walk);
    lua_pushinteger(L, record.version);
    return 2;
}

/* encode(content, version): the record */
static int l_encode(lua_State *L)
{
    struct state_walk walk;
    lua_Number version = luaL_optnumber(L, 2, 1);
    arg_table(L, 1, "test.load: stored: content");
    if (!(version >= 0 && version <= VERSION_MAX))
        script_raise(L, "test.load: stored: version must be a whole number of at least 0");
    state_table_push_root(L, "stored", 0, 1);
    int root = luaL_ref(L, LUA_REGISTRYINDEX);
    struct buf body = {0}, *record = script_scratch(script_of(L));
    lua_settop(L, 0);
    state_walk_init(&walk, &body, root, 0);
    walk.end_ns = INT64_MAX;
    state_walk_write(L, &walk);
    state_walk_end(L, &walk);
    luaL_unref(L, LUA_REGISTRYINDEX, root);
    state_record_write(buf_slice(&body), (int)version, record);
    buf_clear(&body);
    lua_pushlstring(L, record->data, record->len);
    return 1;
}

/* fail_storing(engine, reason or nil) */
static int l_fail_storing(lua_State *L)
{
    struct str reason = arg_str_opt(L, 2, "env:fail_storing: reason");
    spec_states_fail(spec_engine_arg(L)->states, reason.p);
    return 0;
}

/* --- sinks */

/* published(engine, sink or nil): { { sink, id, key, json }, ... }, in order */
static int l_published(lua_State *L)
{
    struct spec_engine *engine = spec_engine_arg(L);
    struct str name = arg_str_opt(L, 2, "env:published: name");
    size_t count;
    const struct spec_published *items = spec_sinks_published(engine->sinks, &count);
    lua_newtable(L);
    for (size_t i = 0; i < count; i++) {
        if (name.p && !str_is(name, items[i].sink)) continue;
        lua_createtable(L, 0, 4);
        tool_set_text(L, "sink", items[i].sink);
        tool_set_text(L, "id", items[i].id);
        tool_set_text(L, "key", items[i].key);
        lua_pushlstring(L, items[i].json.data, items[i].json.len);
        lua_setfield(L, -2, "json");
        lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
    }
    return 1;
}

/* fail_publishing(engine, reason or nil) */
static int l_fail_publishing(lua_State *L)
{
    struct str reason = arg_str_opt(L, 2, "env:fail_publishing: reason");
    spec_sinks_fail(spec_engine_arg(L)->sinks, reason.p);
    return 0;
}

void bind_test_states(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"stored", l_stored},
                                     {"kept", l_kept},
                                     {"store", l_store},
                                     {"decode", l_decode},
                                     {"encode", l_encode},
                                     {"fail_storing", l_fail_storing},
                                     {"published", l_published},
                                     {"fail_publishing", l_fail_publishing},
                                     {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}
