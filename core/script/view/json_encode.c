/* Writes JSON from Lua values; see json_encode.h. */
#include "script/view/json_encode.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "object/pack/pack.h"
#include "object/value/json.h"
#include "object/value/quantity.h"
#include "script/view/json_encode_internal.h"
#include "script/view/state_table.h"
#include "script/view/view.h"
#include "script/vm/args.h"

/* Limits for people: tables are shown to this depth, deeper ones as their type. ELEMENTS_SHOWN and KEYS_SHOWN
 * follow from the text's limit: an element takes at least two bytes, an entry four. */
enum { DEPTH_SHOWN = 16, ELEMENTS_SHOWN = JSON_TEXT_MAX / 2, KEYS_SHOWN = JSON_TEXT_MAX / 4 };
enum { STRING_SHOWN = JSON_TEXT_MAX + 4 /* room for a last character, which is dropped if incomplete */ };
enum { KEY_BYTES = 5 /* "":0, */ };

static void encode(struct json_encoder *e, int idx, int depth);

/* Returns whether the limit for people is reached, so that the rest is omitted. */
static bool is_full(const struct json_encoder *e)
{
    return e->for_people && e->out->len > JSON_TEXT_MAX;
}

static void put_type(struct json_encoder *e, int idx)
{
    buf_printf(e->out, "\"(%s)\"", arg_type_name(e->L, idx));
}

/* Checks the room for `more` bytes before the work is done: a table that occurs in others many times expands
 * to much JSON. */
static void check_room(struct json_encoder *e, size_t more)
{
    size_t size = e->out->len + KEY_BYTES * e->pending + more;
    if (e->for_people) return;
    budget_poll(e->L, e->script);
    if (e->max == 0) arg_value_size(e->L, e->verb, size);
    if (e->max == 0 || size <= e->max) return;
    script_raise(e->L, "%s: JSON exceeds %zu MiB", e->verb, e->max >> 20);
}

static void encode_string(struct json_encoder *e, struct str s)
{
    if (e->for_people && s.n > STRING_SHOWN) s.n = STRING_SHOWN;
    check_room(e, s.n);
    buf_json_string(e->out, s);
}

static void encode_number(struct json_encoder *e, lua_Number n)
{
    char digits[40];
    if (!isfinite(n)) {
        const char *name = isnan(n) ? "nan" : n < 0 ? "-inf" : "inf";
        if (!e->for_people) script_raise(e->L, "%s: %s is not a JSON number", e->verb, name);
        buf_printf(e->out, "\"(%s)\"", name);
        return;
    }
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

static void encode_array(struct json_encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    size_t count = lua_objlen(L, idx);
    if (!e->for_people) encoder_check_positions(e, idx, count, depth);
    buf_putc(e->out, '[');
    for (size_t i = 1; i <= count && !is_full(e); i++) {
        if (i > 1) buf_putc(e->out, ',');
        e->path[depth] = (struct step){.element = i - 1};
        lua_rawgeti(L, idx, (int)i);
        encode(e, lua_gettop(L), depth + 1);
        lua_pop(L, 1);
    }
    buf_putc(e->out, ']');
}

/* Compares keys. Once the call has exceeded its limit all are equal, so that the sort ends soon. */
static int compare_keys(const void *a, const void *b, void *ctx)
{
    const struct script *script = ctx;
    if (script->budget.stop) return 0;
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Appends the keys of the table to the script's key scratch; they stay valid as long as the table has them.
 * Sets `others` if some are not strings. For people it stops after as many keys as can be shown. */
static size_t collect_keys(struct json_encoder *e, int idx, int depth, bool *others)
{
    lua_State *L = e->L;
    size_t count = 0, seen = 0;
    *others = false;
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        lua_pop(L, 1);
        if (e->for_people && ++seen > KEYS_SHOWN) {
            lua_pop(L, 1);
            break;
        }
        if (lua_type(L, -1) != LUA_TSTRING) {
            *others = true;
            if (e->for_people) continue;
            script_raise(
                L, "%s: %skeys of an object must be strings, not a %s (arrays start at 1 and have no holes)",
                e->verb, encoder_path(e, depth), arg_type_name(L, -1));
        }
        struct str key;
        key.p = lua_tolstring(L, -1, &key.n);
        buf_append(&e->script->scratch.keys, &key, sizeof key);
        e->pending++;
        check_room(e, 0);
        count++;
    }
    return count;
}

/* Handles keys that are not strings, such as {[404] = 1}: in JSON they would be strings. */
static void encode_other_keys(struct json_encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        if (is_full(e)) {
            lua_pop(L, 2);
            return;
        }
        if (lua_type(L, -2) != LUA_TSTRING) {
            if (e->out->data[e->out->len - 1] != '{') buf_putc(e->out, ',');
            if (lua_type(L, -2) == LUA_TNUMBER)
                buf_printf(e->out, "\"%.14g\"", lua_tonumber(L, -2));
            else
                put_type(e, lua_gettop(L) - 1);
            buf_putc(e->out, ':');
            encode(e, lua_gettop(L), depth + 1);
        }
        lua_pop(L, 1);
    }
}

static void encode_object(struct json_encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    struct buf *keys = &e->script->scratch.keys;
    bool others;
    size_t from = keys->len, count = collect_keys(e, idx, depth, &others);
    if (count > 1) qsort_r(keys->data + from, count, sizeof(struct str), compare_keys, e->script);
    buf_putc(e->out, '{');
    for (size_t i = 0; i < count && !is_full(e); i++) {
        struct str key =
            ((const struct str *)(keys->data + from))[i]; /* not a pointer: the buffer moves as it grows */
        if (i > 0) buf_putc(e->out, ',');
        e->pending--;
        e->path[depth] = (struct step){.key = key};
        encode_string(e, key);
        buf_putc(e->out, ':');
        lua_pushlstring(L, key.p, key.n);
        lua_rawget(L, idx);
        encode(e, lua_gettop(L), depth + 1);
        lua_pop(L, 1);
    }
    if (others) encode_other_keys(e, idx, depth);
    buf_putc(e->out, '}');
    keys->len = from;
}

/* Returns whether an array would show all of the table: k8s.json.encode omits elements with other keys. */
static bool is_whole_array(lua_State *L, int idx)
{
    size_t count = 0, length = lua_objlen(L, idx);
    if (length > ELEMENTS_SHOWN) return true; /* all that is shown */
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        lua_pop(L, 1);
        if (++count <= length) continue;
        lua_pop(L, 1);
        return false;
    }
    return count == length;
}

/* Encodes a table; it is an array if it is marked, or has a [1]. */
static void encode_table(struct json_encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    if (depth > (e->for_people ? DEPTH_SHOWN : PACK_DEPTH_MAX) || !lua_checkstack(L, 6)) {
        if (!e->for_people) script_raise(L, "%s: nested deeper than %d", e->verb, PACK_DEPTH_MAX);
        put_type(e, idx);
        return;
    }
    encoder_check_table(e, idx, depth);
    lua_rawgeti(L, idx, 1);
    bool is_array = !lua_isnil(L, -1) || copy_is_array(L, idx);
    lua_pop(L, 1);
    if (is_array && (!e->for_people || is_whole_array(L, idx)))
        encode_array(e, idx, depth);
    else
        encode_object(e, idx, depth);
}

static void encode_userdata(struct json_encoder *e, int idx, int depth)
{
    if (state_table_test(e->L, idx)) {
        luaL_checkstack(e->L, 1, e->verb);
        lua_getfenv(e->L, idx);
        encode_table(e, lua_gettop(e->L), depth);
        lua_pop(e->L, 1);
        return;
    }
    const struct view *view = view_test(e->L, idx);
    const struct wide *wide = int64_test(e->L, idx);
    struct quantity q;
    if (view) {
        partial_walk(e->L, view->root, view->value);
        json_write(e->out, view->value);
    } else if (wide) {
        int64_text(wide, e->out);
    } else if (quantity_test(e->L, idx, &q)) {
        buf_putc(e->out, '"'); /* quantities need no escapes */
        quantity_text(&q, e->out);
        buf_putc(e->out, '"');
    } else if (e->for_people)
        put_type(e, idx);
    else
        script_raise(e->L, "%s: cannot encode a %s", e->verb, arg_type_name(e->L, idx));
}

static void encode(struct json_encoder *e, int idx, int depth)
{
    lua_State *L = e->L;
    struct str s;
    check_room(e, 0);
    switch (lua_type(L, idx)) {
    case LUA_TNIL: buf_puts(e->out, "null"); break;
    case LUA_TLIGHTUSERDATA: buf_puts(e->out, "null"); break;
    case LUA_TBOOLEAN: buf_puts(e->out, lua_toboolean(L, idx) ? "true" : "false"); break;
    case LUA_TNUMBER: encode_number(e, lua_tonumber(L, idx)); break;
    case LUA_TSTRING:
        s.p = lua_tolstring(L, idx, &s.n);
        encode_string(e, s);
        break;
    case LUA_TTABLE: encode_table(e, idx, depth); break;
    case LUA_TUSERDATA: encode_userdata(e, idx, depth); break;
    default:
        if (!e->for_people) script_raise(L, "%s: cannot encode a %s", e->verb, luaL_typename(L, idx));
        put_type(e, idx);
    }
}

static struct buf *run(struct json_encoder *e, int idx)
{
    e->script = script_of(e->L);
    e->out = script_scratch(e->script);
    e->script->scratch.keys.len = 0;
    encode(e, idx, 0);
    return e->out;
}

struct buf *json_encode(lua_State *L, int idx, const char *verb, size_t max)
{
    struct json_encoder e = {.L = L, .verb = verb, .max = max};
    if (lua_isnone(L, idx)) script_raise(L, "%s: value is missing", verb);
    run(&e, idx);
    check_room(&e, 0);
    return e.out;
}

struct buf *json_describe(lua_State *L, int idx)
{
    struct json_encoder e = {.L = L, .for_people = true};
    struct buf *out = run(&e, idx);
    buf_shorten(out, 0, JSON_TEXT_MAX);
    return out;
}

/* --- tables without a JSON form, and their names in messages */

enum { KEY_SHOWN = 64, PATH_SHOWN = 200 }; /* in messages */

static bool is_plain(struct str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!isalnum((unsigned char)key.p[i]) && !strchr("_-", key.p[i])) return false;
    return key.n > 0;
}

const char *encoder_path(const struct json_encoder *e, int depth)
{
    e->out->len = 0;
    for (int i = 0; i < depth && e->out->len < PATH_SHOWN; i++) {
        const struct step *step = &e->path[i];
        int shown = step->key.n < KEY_SHOWN ? (int)step->key.n : KEY_SHOWN;
        if (!step->key.p)
            buf_printf(e->out, "[%zu]", step->element);
        else if (is_plain(step->key))
            buf_printf(e->out, "%s%.*s", i ? "." : "", shown, step->key.p);
        else
            buf_printf(e->out, "['%.*s']", shown, step->key.p);
    }
    if (e->out->len >= PATH_SHOWN) buf_puts(e->out, "...");
    if (depth) buf_puts(e->out, ": ");
    return buf_text(e->out);
}

/* Refuses an array with a key that is not a position in it, as it would be omitted. The key is on top of the
 * stack. */
static __attribute__((noreturn)) void refuse_mixed(struct json_encoder *e, int depth)
{
    lua_State *L = e->L;
    bool is_text = lua_type(L, -1) == LUA_TSTRING;
    if (!is_text && lua_type(L, -1) != LUA_TNUMBER) lua_pushstring(L, arg_type_name(L, -1));
    script_raise(L, "%s: %smixed table: an array with the key %s%.*s%s%s", e->verb, encoder_path(e, depth),
                 is_text ? "\"" : "", KEY_SHOWN, own_text(L, -1), is_text ? "\"" : "",
                 is_text ? "" : " (arrays start at 1 and have no holes)");
}

void encoder_check_positions(struct json_encoder *e, int idx, size_t count, int depth)
{
    lua_State *L = e->L;
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        budget_poll(L, e->script);
        lua_pop(L, 1);
        lua_Number n = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
        if (n < 1 || n > (lua_Number)count || n != floor(n)) refuse_mixed(e, depth);
    }
}

void encoder_check_table(struct json_encoder *e, int idx, int depth)
{
    if (e->for_people) return; /* recursion shows as nested levels */
    e->tables[depth] = lua_topointer(e->L, idx);
    for (int i = 0; i < depth; i++)
        if (e->tables[i] == e->tables[depth]) script_raise(e->L, "%s: table contains itself", e->verb);
}
