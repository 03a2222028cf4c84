/* Parts of a copy of states: the bodies of protected calls, each in one of the two Lua states. */
#include "script/generation/state_copy_internal.h"
#include "script/vm/args.h"

void state_copy_write_part(lua_State *L, void *opaque)
{
    struct state_copy *copy = opaque;
    copy->done = state_walk_write(L, &copy->walk);
}

void state_copy_read_part(lua_State *L, void *opaque)
{
    struct state_copy *copy = opaque;
    copy->done = state_walk_read(L, &copy->walk);
}

void state_copy_read_plain_part(lua_State *L, void *opaque)
{
    struct state_copy *copy = opaque;
    copy->done = state_walk_read(L, &copy->walk);
    if (copy->done) copy->value = luaL_ref(L, LUA_REGISTRYINDEX);
}

void state_copy_push_box(lua_State *L, void *opaque)
{
    struct state_copy *copy = opaque;
    lua_rawgeti(L, LUA_REGISTRYINDEX, copy->new_->migrate);
    lua_getinfo(L, ">S", &copy->place);
    lua_createtable(L, 0, 3);
    lua_rawgeti(L, LUA_REGISTRYINDEX, copy->value);
    lua_setfield(L, -2, "old");
    lua_pushinteger(L, copy->version);
    lua_setfield(L, -2, "version");
    lua_pushvalue(L, -1);
    lua_rawseti(L, LUA_REGISTRYINDEX, copy->value);
}

void state_copy_take_result(lua_State *L, void *opaque)
{
    struct state_copy *copy = opaque;
    const struct state_table *to = copy->new_;
    lua_rawgeti(L, LUA_REGISTRYINDEX, copy->value);
    lua_getfield(L, -1, "new");
    int result = lua_gettop(L);
    if (!lua_istable(L, result))
        script_raise(L, "k8s.state: %s: migrate must return a table, not %s", to->name,
                     arg_type_name(L, result));
    const char *name = lua_pushfstring(L, "%s: the value returned by migrate", to->name);
    state_table_push_root(L, name, copy->at, result);
    lua_rawseti(L, LUA_REGISTRYINDEX, copy->value);
    copy->done = true;
}
