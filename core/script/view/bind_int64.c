/* k8s.int64: integers beyond 2^53, exact, comparable with each other only. */
#include <inttypes.h>

#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

static void push_wide(lua_State *L, uint64_t bits, bool is_uint)
{
    struct wide *wide = lua_newuserdata(L, sizeof *wide);
    *wide = (struct wide){bits, is_uint};
    class_set(L, script_of(L), CLASS_INT64);
}

void push_int64(lua_State *L, int64_t n)
{
    const int64_t limit = (int64_t)1 << EXACT_INTEGER_BITS;
    if (n >= -limit && n <= limit)
        lua_pushnumber(L, (lua_Number)n);
    else
        push_wide(L, (uint64_t)n, false);
}

void push_uint64(lua_State *L, uint64_t n)
{
    if (n <= (uint64_t)INT64_MAX)
        push_int64(L, (int64_t)n);
    else
        push_wide(L, n, true);
}

const struct wide *int64_test(lua_State *L, int idx)
{
    return class_test(L, idx, CLASS_INT64);
}

void int64_text(const struct wide *wide, struct buf *out)
{
    if (wide->is_uint)
        buf_printf(out, "%" PRIu64, wide->bits);
    else
        buf_printf(out, "%" PRId64, (int64_t)wide->bits);
}

static const struct wide *arg(lua_State *L, int idx)
{
    const struct wide *wide = int64_test(L, idx);
    if (!wide)
        script_raise(L, "int64: can only be compared with another k8s.int64, not with %s",
                     arg_type_name(L, idx));
    return wide;
}

static int compare(lua_State *L)
{
    const struct wide *a = arg(L, 1), *b = arg(L, 2);
    if (a->is_uint != b->is_uint) return a->is_uint ? 1 : -1;
    if (a->bits == b->bits) return 0;
    bool less = a->is_uint ? a->bits < b->bits : (int64_t)a->bits < (int64_t)b->bits;
    return less ? -1 : 1;
}

static int l_int64_eq(lua_State *L)
{
    lua_pushboolean(L, compare(L) == 0);
    return 1;
}

static int l_int64_lt(lua_State *L)
{
    lua_pushboolean(L, compare(L) < 0);
    return 1;
}

static int l_int64_le(lua_State *L)
{
    lua_pushboolean(L, compare(L) <= 0);
    return 1;
}

static int l_int64_tostring(lua_State *L)
{
    const struct wide *wide = arg(L, 1);
    struct buf *out = script_scratch(script_of(L));
    int64_text(wide, out);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* Parses decimal text between INT64_MIN and UINT64_MAX. */
static bool parse(struct str text, struct wide *out)
{
    bool negative = text.n > 1 && text.p[0] == '-';
    if (negative) text = (struct str){text.p + 1, text.n - 1};
    uint64_t n;
    if (!str_to_u64(text, &n)) return false;
    if (negative && n > (uint64_t)INT64_MAX + 1) return false;
    *out = (struct wide){negative ? 0 - n : n, !negative && n > (uint64_t)INT64_MAX};
    return true;
}

/* k8s.int64(n): from an integer, decimal text, or another int64. */
static int l_int64_new(lua_State *L)
{
    struct wide wide;
    const lua_Number limit = (lua_Number)((int64_t)1 << EXACT_INTEGER_BITS);
    if (int64_test(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    if (lua_type(L, 1) == LUA_TNUMBER) {
        lua_Number n = lua_tonumber(L, 1);
        if (!(n >= -limit && n <= limit) || n != (lua_Number)(int64_t)n)
            script_raise(L, "k8s.int64: number must be an integer within 2^53; pass larger ones as a string");
        wide = (struct wide){(uint64_t)(int64_t)n, false};
    } else {
        struct str text = arg_str(L, 1, "k8s.int64: the value");
        if (!parse(text, &wide))
            script_raise(L, "k8s.int64: \"%.*s\" is not a 64-bit integer", text.n > 60 ? 60 : STR_ARG(text));
    }
    push_wide(L, wide.bits, wide.is_uint);
    return 1;
}

static void bind_int64(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__eq", l_int64_eq}, {"__lt", l_int64_lt}, {"__le", l_int64_le}, {"__tostring", l_int64_tostring},
        {NULL, NULL},
    };
    class_define(L, CLASS_INT64, "int64", meta, NULL);
    lua_pop(L, 1);
    lua_pushcfunction(L, l_int64_new);
    lua_setfield(L, -2, "int64");
}

const struct feature feature_int64 = {
    .parts = {"int64"}, .bind = bind_int64, .classes = CLASS_BIT(CLASS_INT64)};
