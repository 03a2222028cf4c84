/* raw.repl: C functions of the prompt's own Lua (lua/k8s/repl.lua). Scripts do not have them. */
#include <ctype.h>

#include "base/mem.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/kinds.h"
#include "script/prompt/repl_internal.h"
#include "script/vm/args.h"

static struct repl *repl_of(lua_State *L)
{
    return script_of(L)->own.repl;
}

/* Compiles what stands at `before`, the text and `behind`; a function or the message is left on the stack. */
static bool compile(lua_State *L, const char *before, struct str text, const char *behind)
{
    lua_pushstring(L, before);
    lua_pushlstring(L, text.p, text.n);
    lua_pushstring(L, behind);
    lua_concat(L, 3);
    size_t n;
    const char *all = lua_tolstring(L, -1, &n);
    bool ok = luaL_loadbufferx(L, all, n, "@repl", "t") == 0;
    lua_remove(L, -2);
    return ok;
}

static bool begins_statement(struct str text)
{
    static const char *const words[] = {"local", "for",    "if",    "while", "repeat",
                                        "do",    "return", "break", "goto",  "function"};
    text = str_trim(text);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct str word = str_of(words[i]);
        if (!str_starts(text, word)) continue;
        if (text.n == word.n || !isalnum((unsigned char)text.p[word.n])) return true;
    }
    return false;
}

/* compile(text): a function, to be called with one that gives its arguments; or nil, why, and whether more
 * text would help. An expression is an argument of that function: a call of its own would leave no frame to
 * name. */
static int l_compile(lua_State *L)
{
    static const struct str end_mark = {"'<eof>'", 7};
    struct str text = arg_bytes(L, 1, "text");
    lua_settop(L, 1);
    if (compile(L, "return ", text, "")) {
        static const char head[] = "local give = ... return give(";
        if (!compile(L, head, text, ")") &&
            !compile(L, head, text, "\n)")) /* behind a comment; else there is nothing */
            lua_settop(L, 2);
        return 1;
    }
    if (compile(L, "", text, "")) return 1;
    struct str expression = str_of(own_text(L, 2)), statement = str_of(own_text(L, 3));
    bool more = str_ends(expression, end_mark) || str_ends(statement, end_mark);
    bool as_statement = begins_statement(text) || strstr(expression.p, "'<eof>' expected");
    lua_pushnil(L);
    lua_pushvalue(L, as_statement ? 3 : 2);
    lua_pushboolean(L, more);
    return 3;
}

/* reply(end, text) */
static int l_result(lua_State *L)
{
    struct repl *repl = repl_of(L);
    struct str end = arg_str(L, 1, "end"), text = arg_bytes(L, 2, "text");
    repl->end = str_is(end, "done") ? REPL_DONE : str_is(end, "incomplete") ? REPL_INCOMPLETE : REPL_FAILED;
    repl->result.len = 0;
    buf_str(&repl->result, text);
    return 0;
}

/* candidates(start, names): what completion found. */
static int l_candidates(lua_State *L)
{
    struct repl *repl = repl_of(L);
    repl->start = (size_t)luaL_checkinteger(L, 1);
    arg_table(L, 2, "names");
    for (int i = 1;; i++) {
        lua_rawgeti(L, 2, i);
        if (lua_isnil(L, -1)) return 0;
        struct str name = arg_bytes(L, -1, "name");
        buf_str(&repl->result, name);
        buf_putc(&repl->result, '\0');
        lua_pop(L, 1);
    }
}

/* resolve(name): "deployments.apps" and whether the kind has namespaces; nil, why, and whether no kinds are
 * known. */
static int l_resolve(lua_State *L)
{
    struct err err;
    struct resource resource;
    const struct kinds *kinds = script_of(L)->host->cluster->kinds;
    struct str name = arg_str(L, 1, "kind");
    if (!kinds_resolve(kinds, name, &resource, &err)) {
        lua_pushnil(L);
        lua_pushstring(L, err.text);
        lua_pushboolean(L, !kinds_known(kinds));
        return 3;
    }
    struct buf *text = script_scratch(script_of(L));
    resource_name(&resource, text);
    bool namespaced = resource.namespaced;
    resource_clear(&resource);
    lua_pushlstring(L, text->data, text->len);
    lua_pushboolean(L, namespaced);
    return 2;
}

/* kinds(): the names of all that the server has, once each. */
static int l_kinds(lua_State *L)
{
    const struct catalogue *catalogue = kinds_catalogue(script_of(L)->host->cluster->kinds);
    lua_newtable(L);
    for (size_t i = 0; catalogue && i < catalogue->count; i++) {
        struct buf *text = script_scratch(script_of(L));
        resource_name(&catalogue->entries[i].resource, text);
        lua_pushlstring(L, text->data, text->len);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

/* claimed(): the last claim wants its informer. */
static int l_claimed(lua_State *L)
{
    const struct repl *repl = repl_of(L);
    if (repl->ops.claimed) repl->ops.claimed(repl->ops.claimed_ctx);
    return 0;
}

/* globals(): of the prompt. */
static int l_globals(lua_State *L)
{
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    return 1;
}

void bind_repl(lua_State *L)
{
    static const luaL_Reg verbs[] = {
        {"compile", l_compile}, {"result", l_result},   {"candidates", l_candidates}, {"resolve", l_resolve},
        {"kinds", l_kinds},     {"claimed", l_claimed}, {"globals", l_globals},       {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    bind_repl_watch(L);
    if (repl_of(L)->caches == REPL_SHARED_CACHES) bind_repl_caches(L);
    lua_setfield(L, -2, "repl");
}
