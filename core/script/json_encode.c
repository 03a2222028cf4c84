/* Writes JSON from Lua values; see json_encode.h. */
#include "script/json_encode.h"

#include <math.h>
#include <stdlib.h>

#include "object/json.h"
#include "object/pack.h"
#include "object/quantity.h"
#include "script/args.h"
#include "script/view.h"

struct encoder {
    lua_State *L;
    struct script *script;
    struct buf *out;
};

static void encode(struct encoder *e, int idx, int depth);

static void encode_number(struct encoder *e, lua_Number n)
{
    char digits[40];
    if (!isfinite(n)) script_raise(e->L, "k8s.json.encode: %s is no JSON number", isnan(n) ? "nan" : "inf");
    if (n == floor(n) && fabs(n) < 1e15) {
        buf_printf(e->out, "%.0f", n);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, n);
        if (strtod(digits, NULL) == n) break;
    }
    buf_puts(e->out, digits);
}

static void encode_array(struct encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    size_t count = lua_objlen(L, idx);
    buf_putc(e->out, '[');
    for (size_t i = 1; i <= count; i++) {
        if (i > 1) buf_putc(e->out, ',');
        lua_rawgeti(L, idx, (int)i);
        encode(e, lua_gettop(L), depth + 1);
        lua_pop(L, 1);
    }
    buf_putc(e->out, ']');
}

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Appends the keys of the table to the script's key scratch; they stay valid as long as the table holds them.
 */
static size_t collect_keys(struct encoder *e, int idx)
{
    lua_State *L = e->L;
    size_t count = 0;
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            script_raise(L,
                         "k8s.json.encode: an object's keys must be strings, one is a %s (arrays count from "
                         "1 without holes)",
                         arg_type_name(L, -1));
        struct str key;
        key.p = lua_tolstring(L, -1, &key.n);
        buf_append(&e->script->keys, &key, sizeof key);
        count++;
    }
    return count;
}

static void encode_object(struct encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    struct buf *keys = &e->script->keys;
    size_t from = keys->len, count = collect_keys(e, idx);
    if (count > 1) qsort(keys->data + from, count, sizeof(struct str), compare_keys);
    buf_putc(e->out, '{');
    for (size_t i = 0; i < count; i++) {
        struct str key = ((const struct str *)(keys->data + from))[i]; /* the buffer moves as it grows */
        if (i > 0) buf_putc(e->out, ',');
        buf_json_string(e->out, key);
        buf_putc(e->out, ':');
        lua_pushlstring(L, key.p, key.n);
        lua_rawget(L, idx);
        encode(e, lua_gettop(L), depth + 1);
        lua_pop(L, 1);
    }
    buf_putc(e->out, '}');
    keys->len = from;
}

/* A table is an array when it is marked, or when it has a [1]. */
static void encode_table(struct encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    if (depth > PACK_DEPTH_MAX || !lua_checkstack(L, 6))
        script_raise(L, "k8s.json.encode: nested too deep, or a table in itself");
    lua_rawgeti(L, idx, 1);
    bool is_array = !lua_isnil(L, -1) || copy_is_array(L, idx);
    lua_pop(L, 1);
    if (is_array)
        encode_array(e, idx, depth);
    else
        encode_object(e, idx, depth);
}

static void encode_userdata(struct encoder *e, int idx)
{
    const struct view *view = view_test(e->L, idx);
    const struct wide *wide = int64_test(e->L, idx);
    struct quantity q;
    if (view)
        json_write(e->out, view->value);
    else if (wide)
        int64_text(wide, e->out);
    else if (quantity_test(e->L, idx, &q)) {
        buf_putc(e->out, '"'); /* quantities need no escapes */
        quantity_text(&q, e->out);
        buf_putc(e->out, '"');
    } else
        script_raise(e->L, "k8s.json.encode: cannot encode a %s", arg_type_name(e->L, idx));
}

static void encode(struct encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    struct str s;
    switch (lua_type(L, idx)) {
    case LUA_TNIL: buf_puts(e->out, "null"); break;
    case LUA_TLIGHTUSERDATA: buf_puts(e->out, "null"); break;
    case LUA_TBOOLEAN: buf_puts(e->out, lua_toboolean(L, idx) ? "true" : "false"); break;
    case LUA_TNUMBER: encode_number(e, lua_tonumber(L, idx)); break;
    case LUA_TSTRING:
        s.p = lua_tolstring(L, idx, &s.n);
        buf_json_string(e->out, s);
        break;
    case LUA_TTABLE: encode_table(e, idx, depth); break;
    case LUA_TUSERDATA: encode_userdata(e, idx); break;
    default: script_raise(L, "k8s.json.encode: cannot encode a %s", luaL_typename(L, idx));
    }
}

struct buf *json_encode(lua_State *L, int idx)
{
    struct script *script = script_of(L);
    struct encoder e = {L, script, script_scratch(script)};
    script->keys.len = 0;
    encode(&e, idx, 0);
    return e.out;
}
