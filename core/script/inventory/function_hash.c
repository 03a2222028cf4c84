/* Hashes of functions; see function_hash.h. */
#include "script/inventory/function_hash.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "base/must.h"
#include "script/vm/args.h"

/* Functions of lua/k8s that are made around a script's: how deep they lie in each other. */
enum { WRAPPED_MAX = 4 };

static void keep_function(lua_State *L, int idx, int depth, struct buf *out);

static bool is_ours(lua_State *L, int idx)
{
    lua_Debug ar;
    lua_pushvalue(L, idx);
    lua_getinfo(L, ">S", &ar);
    return *ar.what != 'C' && *ar.source == '=';
}

/* What a function of lua/k8s has from outside tells one from another: the script's function, the queue. */
static void keep_upvalue(lua_State *L, int idx, int depth, struct buf *out)
{
    if (lua_isfunction(L, idx) && depth < WRAPPED_MAX) {
        keep_function(L, idx, depth + 1, out);
    } else if (lua_isuserdata(L, idx) && luaL_callmeta(L, idx, CLASS_NAMED_BY)) {
        buf_puts(out, own_text(L, -1));
        lua_pop(L, 1);
    } else if (lua_type(L, idx) == LUA_TSTRING) {
        buf_str(out, arg_bytes(L, idx, "plan: text"));
    }
}

/* Pushes the stripped code. */
static void push_code(lua_State *L, int idx)
{
    push_ref(L, script_of(L), REF_DUMP);
    lua_pushvalue(L, idx);
    lua_pushboolean(L, 1);
    lua_call(L, 2, 1);
}

void function_code(lua_State *L, int idx, bool strings, struct buf *out)
{
    size_t len;
    push_code(L, idx);
    const char *code = lua_tolstring(L, -1, &len);
    const struct str dump = {code, len};
    must(strings ? function_strings(dump, out) : function_canonical(dump, out));
    lua_pop(L, 1);
}

static void keep_function(lua_State *L, int idx, int depth, struct buf *out)
{
    luaL_checkstack(L, 8, "functions are nested too deep");
    if (lua_iscfunction(L, idx)) {
        buf_puts(out, "[C]");
        return;
    }
    bool ours = is_ours(L, idx);
    function_code(L, idx, false, out);
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, idx, i)); i++) {
        buf_puts(out, name);
        buf_putc(out, '\0');
        if (ours) keep_upvalue(L, lua_gettop(L), depth, out);
        lua_pop(L, 1);
    }
}

static void note_place(lua_State *L, int idx, const char *hash)
{
    struct plan *plan = &script_of(L)->plan;
    lua_Debug ar;
    if (!plan->notes_functions) return;
    lua_pushvalue(L, idx);
    lua_getinfo(L, ">S", &ar);
    if (*ar.source == '@') plan_note_function(plan, hash, ar.source + 1, ar.linedefined);
}

void function_hash(lua_State *L, int idx, char out[FUNCTION_HASH_LEN + 1])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    struct buf *code = script_scratch(script_of(L));
    keep_function(L, idx, 0, code);
    must(EVP_Digest(code->data, code->len, digest, NULL, EVP_sha256(), NULL));
    for (size_t i = 0; i < FUNCTION_HASH_LEN / 2; i++) snprintf(out + 2 * i, 3, "%02x", digest[i]);
    note_place(L, idx, out);
}
