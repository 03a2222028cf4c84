/* string.rep, and what string.format is asked before it is called: both can make much of little; see
 * string_library.h. */
#include "base/buf.h"
#include "script/lib/string_library.h"
#include "script/vm/args.h"

/* What the longest number takes, "%99.99f" of 1e308. */
enum { NUMBER_MAX = 512, QUOTED_BYTE_MAX = 4 };
/* Of LuaJIT. */
enum { STRING_MAX = 0x7fffff00 };

int l_string_rep(lua_State *L)
{
    struct str s, sep;
    s.p = luaL_checklstring(L, 1, &s.n);
    lua_Number wanted = luaL_checknumber(L, 2);
    sep.p = luaL_optlstring(L, 3, "", &sep.n);
    size_t unit = s.n + sep.n;
    if (wanted >= 2 && wanted * (lua_Number)unit > STRING_MAX) {
        arg_value_size(L, "string.rep", SIZE_MAX / 2);
        script_raise(L, "string length overflow");
    }
    size_t count = unit > 0 && wanted >= 1 ? (size_t)wanted : 0;
    size_t len = count > 0 ? unit * count - sep.n : 0;
    arg_value_size(L, "string.rep", len);
    struct buf *out = script_scratch(script_of(L));
    char *text = buf_reserve(out, unit * count + 1);
    if (count > 0) {
        memcpy(text, s.p, s.n);
        memcpy(text + s.n, sep.p, sep.n);
    }
    for (size_t done = unit; done < len; done *= 2) /* each time as much as there is */
        memcpy(text + done, text, done < len - done ? done : len - done);
    lua_pushlstring(L, text, len);
    return 1;
}

/* The value at `idx` is what its __tostring makes of it. */
static void call_tostring(lua_State *L, int idx)
{
    if (lua_type(L, idx) == LUA_TSTRING || !luaL_callmeta(L, idx, "__tostring")) return;
    if (lua_type(L, -1) != LUA_TSTRING) /* string.format would call it again, with nobody counting */
        script_raise(L, "'__tostring' must return a string");
    lua_replace(L, idx); /* and string.format sees a text */
}

/* Behind flags, width and precision. */
static size_t conversion_at(struct str format, size_t i)
{
    while (i < format.n && strchr("-+ #0123456789.", format.p[i]) && format.p[i]) i++;
    return i;
}

int l_format_arguments(lua_State *L)
{
    int count = lua_gettop(L), next = 1;
    struct str format;
    call_check_stack(L);
    if (!lua_isstring(L, 1)) return count; /* string.format says that */
    format.p = lua_tolstring(L, 1, &format.n);
    size_t total = format.n, most = (size_t)script_of(L)->limits.values[LIMIT_VALUE_SIZE];
    for (size_t i = 0; i + 1 < format.n; i++) {
        if (format.p[i] != '%') continue;
        i = conversion_at(format, i + 1);
        if (i >= format.n || format.p[i] == '%' || ++next > count) continue;
        if (format.p[i] == 's') call_tostring(L, next);
        bool text = lua_type(L, next) == LUA_TSTRING;
        size_t len = text ? lua_objlen(L, next) : 0;
        total += NUMBER_MAX + (format.p[i] == 'q' ? QUOTED_BYTE_MAX * len : len);
        if (total > most) arg_value_size(L, "string.format", total);
    }
    return count;
}
