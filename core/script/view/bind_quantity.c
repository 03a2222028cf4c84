/* k8s.quantity: exact arithmetic and comparison of Kubernetes quantities. */
#include <stdio.h>

#include "object/value/quantity.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

enum { FACTOR_BITS = 53 };
#define FACTOR_MAX ((lua_Number)((int64_t)1 << FACTOR_BITS))

/* Copies the struct in and out, as Lua aligns userdata to 8 bytes, while a 128-bit integer needs 16. */
void push_quantity(lua_State *L, const struct quantity *q)
{
    memcpy(lua_newuserdata(L, sizeof *q), q, sizeof *q);
    class_set(L, script_of(L), CLASS_QUANTITY);
}

bool quantity_test(lua_State *L, int idx, struct quantity *out)
{
    const void *q = class_test(L, idx, CLASS_QUANTITY);
    if (q) memcpy(out, q, sizeof *out);
    return q != NULL;
}

/* Reads a quantity, its text, or a number. Returns false with `err` for text that is not one; raises for
 * other types. */
static bool read(lua_State *L, int idx, struct quantity *out, struct err *err)
{
    if (quantity_test(L, idx, out)) return true;
    char digits[40];
    struct str text = {digits, 0};
    switch (lua_type(L, idx)) {
    case LUA_TSTRING: text.p = lua_tolstring(L, idx, &text.n); break;
    case LUA_TNUMBER: text.n = (size_t)snprintf(digits, sizeof digits, "%.17g", lua_tonumber(L, idx)); break;
    default:
        script_raise(L, "quantity: expected a quantity, text or a number, not %s", arg_type_name(L, idx));
    }
    return quantity_parse(text, out, err);
}

static void operand(lua_State *L, int idx, struct quantity *out)
{
    struct err err;
    if (!read(L, idx, out, &err)) script_raise(L, "%s", err.text);
}

/* k8s.quantity "100m"; nil, err for text that is not a quantity. */
static int l_quantity_new(lua_State *L)
{
    struct quantity q;
    struct err err;
    if (!read(L, 1, &q, &err)) return push_error(L, 0, "Invalid", str_of(err.text));
    push_quantity(L, &q);
    return 1;
}

static int compare(lua_State *L)
{
    struct quantity a, b;
    operand(L, 1, &a);
    operand(L, 2, &b);
    return quantity_cmp(&a, &b);
}

static int l_quantity_eq(lua_State *L)
{
    lua_pushboolean(L, compare(L) == 0);
    return 1;
}

static int l_quantity_lt(lua_State *L)
{
    lua_pushboolean(L, compare(L) < 0);
    return 1;
}

static int l_quantity_le(lua_State *L)
{
    lua_pushboolean(L, compare(L) <= 0);
    return 1;
}

static int combine(lua_State *L, bool (*fn)(const struct quantity *, const struct quantity *,
                                            struct quantity *, struct err *))
{
    struct quantity a, b, result;
    struct err err;
    operand(L, 1, &a);
    operand(L, 2, &b);
    if (!fn(&a, &b, &result, &err)) script_raise(L, "%s", err.text);
    push_quantity(L, &result);
    return 1;
}

static int l_quantity_add(lua_State *L)
{
    return combine(L, quantity_add);
}

static int l_quantity_sub(lua_State *L)
{
    return combine(L, quantity_sub);
}

/* quantity * integer, in either order. */
static int l_quantity_mul(lua_State *L)
{
    struct quantity q, result;
    struct err err;
    bool first = quantity_test(L, 1, &q);
    if (!first) operand(L, 2, &q);
    int at = first ? 2 : 1;
    lua_Number n = lua_tonumber(L, at);
    if (lua_type(L, at) != LUA_TNUMBER || !(n >= -FACTOR_MAX && n <= FACTOR_MAX) ||
        n != (lua_Number)(int64_t)n)
        script_raise(L, "quantity: may be multiplied by a whole number only");
    if (!quantity_mul(&q, (int64_t)n, &result, &err)) script_raise(L, "%s", err.text);
    push_quantity(L, &result);
    return 1;
}

static int l_quantity_tostring(lua_State *L)
{
    struct quantity q;
    operand(L, 1, &q);
    struct buf *out = script_scratch(script_of(L));
    quantity_text(&q, out);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* q:number(), rounded if a double cannot represent it. */
static int l_quantity_number(lua_State *L)
{
    struct quantity q;
    memcpy(&q, class_self(L, CLASS_QUANTITY, "number"), sizeof q);
    lua_pushnumber(L, quantity_number(&q));
    return 1;
}

static const luaL_Reg quantity_methods[] = {
    {"number", l_quantity_number},
    {NULL, NULL},
};

static void bind_quantity(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__eq", l_quantity_eq},
        {"__lt", l_quantity_lt},
        {"__le", l_quantity_le},
        {"__add", l_quantity_add},
        {"__sub", l_quantity_sub},
        {"__mul", l_quantity_mul},
        {"__tostring", l_quantity_tostring},
        {NULL, NULL},
    };
    class_define(L, CLASS_QUANTITY, "quantity", meta, quantity_methods);
    lua_pop(L, 1);
    lua_pushcfunction(L, l_quantity_new);
    lua_setfield(L, -2, "quantity");
}

const struct feature feature_quantity = {
    .parts = {"quantity"}, .bind = bind_quantity, .classes = CLASS_BIT(CLASS_QUANTITY)};
