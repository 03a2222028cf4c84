/* References and scratch of a script; see state.h. */
#include "script/vm/state.h"

enum { SCRATCH_KEEP = 64 << 10 };

void set_ref(lua_State *L, enum script_ref ref)
{
    script_of(L)->refs[ref] = luaL_ref(L, LUA_REGISTRYINDEX);
}

struct buf *script_scratch(struct script *script)
{
    if (script->scratch.text.cap > SCRATCH_KEEP) buf_clear(&script->scratch.text);
    script->scratch.text.len = 0;
    buf_reserve(&script->scratch.text, 1);
    return &script->scratch.text;
}

void state_trim(struct script *script)
{
    if (script->scratch.text.cap > SCRATCH_KEEP) buf_clear(&script->scratch.text);
    if (script->scratch.keys.cap > SCRATCH_KEEP) buf_clear(&script->scratch.keys);
}

void script_push_function(lua_State *L, int ref)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
    script_of(L)->call.called = (struct script_called){ref, lua_topointer(L, -1)};
}

bool script_definition(lua_State *L, lua_Debug *ar)
{
    const struct script_called *called = &script_of(L)->call.called;
    if (!called->ref) return false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, called->ref);
    if (!lua_isfunction(L, -1) || lua_topointer(L, -1) != called->id) {
        lua_pop(L, 1);
        return false;
    }
    lua_getinfo(L, ">S", ar);
    return ar->linedefined > 0 && *ar->source != '=';
}
