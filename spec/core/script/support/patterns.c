/* Ours and LuaJIT's string functions side by side; see patterns.h. */
#include "patterns.h"

#include <lualib.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/must.h"
#include "script/vm/call.h"

enum {
    GMATCH_MAX = 200,
    CPU_MS = 20000 /* of a call: in a build that traces comparisons a step takes microseconds */
};

void patterns_init(struct patterns *p)
{
    struct err err;
    memset(p, 0, sizeof *p);
    strcpy(p->path, "/tmp/kubelua-patterns-XXXXXX");
    int fd = mkstemp(p->path);
    must(fd >= 0);
    close(fd);
    static const struct cluster_parts none;
    p->host.cluster = &none;
    p->host.default_namespace = "";
    turns_init(&p->turns);
    p->host.turns = &p->turns;
    p->limits = limits_default;
    p->limits.values[LIMIT_HANDLER_CPU] = CPU_MS;
    p->host.limits = &p->limits;
    p->script = script_load(&p->host, p->path, "patterns", &err);
    p->stock = luaL_newstate();
    must(p->script && p->stock);
    luaL_openlibs(p->stock);
}

void patterns_clear(struct patterns *p)
{
    script_free(p->script);
    lua_close(p->stock);
    unlink(p->path);
    buf_clear(&p->own);
    buf_clear(&p->expected);
}

/* What stands on the stack from `first` on, each value with its type. */
static void put_values(lua_State *L, int first, struct buf *out)
{
    for (int i = first; i <= lua_gettop(L); i++) {
        size_t len = 0;
        const char *text = lua_type(L, i) == LUA_TNIL ? "" : lua_tolstring(L, i, &len);
        buf_printf(out, "%s %zu ", luaL_typename(L, i), len);
        if (text) buf_append(out, text, len);
        buf_putc(out, '\n');
    }
}

/* The iterator on top of the stack, until it ends. */
static void iterate(lua_State *L, struct buf *out)
{
    int iterator = lua_gettop(L);
    for (int i = 0; i < GMATCH_MAX; i++) {
        lua_pushvalue(L, iterator);
        bool ok = lua_pcall(L, 0, LUA_MULTRET, 0) == 0;
        put_values(L, iterator + 1, out);
        if (!ok || lua_gettop(L) == iterator) return;
        lua_settop(L, iterator);
    }
}

static void push_replacement(lua_State *L, const struct pattern_call *call)
{
    static const char table[] = "return { a = 'A', ab = '%1', b = false, [''] = '-', [1] = 7, aa = 0.5 }";
    static const char function[] = "return function(x, y) if x == 'a' or y == 'b' then return x .. (y or "
                                   "'|') elseif x == 'b' then return "
                                   "false elseif x == 2 then return {} end end";
    if (call->replacement == REPLACE_TEXT) {
        lua_pushlstring(L, call->text.p, call->text.n);
        return;
    }
    must(luaL_loadstring(L, call->replacement == REPLACE_TABLE ? table : function) == 0);
    lua_call(L, 0, 1);
}

static void call_in(lua_State *L, const struct pattern_call *call, struct buf *out)
{
    int top = lua_gettop(L);
    bool finds = strcmp(call->function, "find") == 0, replaces = strcmp(call->function, "gsub") == 0;
    out->len = 0;
    lua_getglobal(L, "string");
    lua_getfield(L, -1, call->function);
    lua_remove(L, -2);
    lua_pushlstring(L, call->subject.p, call->subject.n);
    lua_pushlstring(L, call->pattern.p, call->pattern.n);
    if (replaces) push_replacement(L, call);
    if (call->has_number) lua_pushinteger(L, call->number);
    if (call->has_number && call->plain && finds) lua_pushboolean(L, 1);
    bool ok = lua_pcall(L, lua_gettop(L) - top - 1, LUA_MULTRET, 0) == 0;
    if (ok && lua_isfunction(L, -1))
        iterate(L, out);
    else
        put_values(L, top + 1, out);
    lua_settop(L, top);
}

struct own_call {
    const struct pattern_call *call;
    struct buf *out;
};

static void call_own(lua_State *L, void *ctx)
{
    const struct own_call *own = ctx;
    call_in(L, own->call, own->out);
}

bool patterns_agree(struct patterns *p, const struct pattern_call *call)
{
    struct own_call own = {call, &p->own};
    must(script_call(p->script, "a spec", call_own, &own) == SCRIPT_OK);
    call_in(p->stock, call, &p->expected);
    return str_eq(buf_slice(&p->own), buf_slice(&p->expected));
}
