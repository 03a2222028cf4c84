/* References and scratch of a script; see state.h. */
#include "script/vm/state.h"

enum { SCRATCH_KEEP = 64 << 10 };

void set_ref(lua_State *L, enum script_ref ref)
{
    script_of(L)->refs[ref] = luaL_ref(L, LUA_REGISTRYINDEX);
}

struct buf *script_scratch(struct script *script)
{
    if (script->text.cap > SCRATCH_KEEP) buf_clear(&script->text);
    script->text.len = 0;
    buf_reserve(&script->text, 1);
    return &script->text;
}

void state_trim(struct script *script)
{
    if (script->text.cap > SCRATCH_KEEP) buf_clear(&script->text);
    if (script->keys.cap > SCRATCH_KEEP) buf_clear(&script->keys);
}
