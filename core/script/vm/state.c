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
