/* References and scratch of a script; see state.h. */
#include "script/vm/state.h"

#include <ctype.h>
#include <string.h>

#include "script/vm/bundle.h"

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

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Does the line have `return`, a name such as k8s.patch, and arguments? */
static bool has_tail_call(struct str line)
{
    static const char word[] = "return";
    const char *at = memmem(line.p, line.n, word, sizeof word - 1), *end = line.p + line.n;
    if (!at || (at > line.p && is_name(at[-1]))) return false;
    const char *name = at + sizeof word - 1;
    while (name < end && *name == ' ') name++;
    const char *after = name;
    while (after < end && (is_name(*after) || *after == '.' || *after == ':')) after++;
    struct str called = {name, (size_t)(after - name)};
    while (after < end && *after == ' ') after++;
    return called.n > 0 && name > at + sizeof word - 1 && !str_is(called, "function") && after < end &&
           strchr("({\"'[", *after);
}

/* Returns the line of the function's only tail call; 0: it has none, or several. */
static int tail_call_of(lua_State *L, const lua_Debug *ar)
{
    struct str rest, line;
    struct err err;
    int found = 0;
    if (*ar->source != '@' || !bundle_text(script_of(L)->id.bundle, ar->source + 1, &rest, &err)) return 0;
    for (int n = 1; n <= ar->lastlinedefined && str_cut(&rest, '\n', &line); n++) {
        if (n < ar->linedefined || !has_tail_call(line)) continue;
        if (found) return 0;
        found = n;
    }
    return found;
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
    int line = tail_call_of(L, ar);
    if (line) ar->linedefined = line;
    return ar->linedefined > 0 && *ar->source != '=';
}
