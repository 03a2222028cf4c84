/* The module "sim.json": jansson's values in Lua; see lua.h. Texts, booleans and most integers are values of
 * Lua; maps, lists, null, and numbers that a double would change are light userdata. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "base/civil.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/text/base64.h"
#include "sim/lua/lua.h"
#include "sim/text/json_error.h"
#include "sim/text/tree.h"

/* Name in the registry of the array with what a call made. */
static const char made_key[] = "made";

static const double exact_max = 9007199254740992.0; /* 2^53 */

void sim_lua_push(lua_State *L, const json_t *value)
{
    json_int_t integer = json_integer_value(value);
    if (!value)
        lua_pushnil(L);
    else if (json_is_string(value))
        lua_pushlstring(L, json_string_value(value), json_string_length(value));
    else if (json_is_boolean(value))
        lua_pushboolean(L, json_is_true(value));
    else if (json_is_integer(value) && integer < (json_int_t)exact_max && integer > -(json_int_t)exact_max)
        lua_pushnumber(L, (lua_Number)integer);
    else
        lua_pushlightuserdata(L, (void *)value);
}

static json_t *number_of(lua_Number value)
{
    return value == floor(value) && fabs(value) < exact_max ? json_integer((json_int_t)value)
                                                            : json_real(value);
}

static json_t *text_of(lua_State *L, int at)
{
    size_t n;
    const char *text = lua_tolstring(L, at, &n);
    json_t *value = json_stringn(text, n);
    return value ? value : sim_string(text);
}

static json_t *list_of(lua_State *L, int at)
{
    json_t *list = json_array();
    int n = (int)lua_objlen(L, at);
    must(lua_checkstack(L, LUA_MINSTACK));
    for (int i = 1; i <= n; i++) {
        lua_rawgeti(L, at, i);
        json_array_append_new(list, sim_lua_value(L, lua_gettop(L)));
        lua_pop(L, 1);
    }
    return list;
}

json_t *sim_lua_value(lua_State *L, int at)
{
    if (at < 0) at += lua_gettop(L) + 1;
    switch (lua_type(L, at)) {
    case LUA_TSTRING: return text_of(L, at);
    case LUA_TNUMBER: return number_of(lua_tonumber(L, at));
    case LUA_TBOOLEAN: return json_boolean(lua_toboolean(L, at));
    case LUA_TTABLE: return list_of(L, at);
    case LUA_TLIGHTUSERDATA: return json_incref(lua_touserdata(L, at));
    default: return json_null();
    }
}

/* --- reading */

/* Returns the map, list or other value that is an argument; NULL for what Lua has itself. */
static json_t *node(lua_State *L, int at)
{
    return lua_islightuserdata(L, at) ? lua_touserdata(L, at) : NULL;
}

/* Pushes what the path of the second argument leads to from the first. */
static void push_at(lua_State *L)
{
    const char *path = luaL_optstring(L, 2, "");
    if (*path || node(L, 1))
        sim_lua_push(L, sim_at(node(L, 1), path));
    else
        lua_pushvalue(L, 1);
}

/* at(value, path): the value there; nil if there is none. */
static int l_at(lua_State *L)
{
    push_at(L);
    return 1;
}

/* text(value, path): the text there, or "". */
static int l_text(lua_State *L)
{
    push_at(L);
    if (lua_type(L, -1) != LUA_TSTRING) lua_pushliteral(L, "");
    return 1;
}

/* int(value, path, otherwise): the integer there. */
static int l_int(lua_State *L)
{
    push_at(L);
    if (lua_type(L, -1) != LUA_TNUMBER) lua_pushvalue(L, 3);
    return 1;
}

/* number(value): any number as a double; nil of what is none. */
static int l_number(lua_State *L)
{
    if (json_is_number(node(L, 1)))
        lua_pushnumber(L, json_number_value(node(L, 1)));
    else if (lua_type(L, 1) == LUA_TNUMBER)
        lua_pushvalue(L, 1);
    else
        lua_pushnil(L);
    return 1;
}

/* type(value): "object", "array", "string", "integer", "real", "boolean", "null"; nil of nil. */
static int l_type(lua_State *L)
{
    static const char *const names[] = {"object", "array",   "string",  "integer",
                                        "real",   "boolean", "boolean", "null"};
    if (lua_isnoneornil(L, 1)) return 0;
    json_t *value = sim_lua_value(L, 1);
    lua_pushstring(L, names[json_typeof(value)]);
    json_decref(value);
    return 1;
}

/* count(value): how many elements or members it has. */
static int l_count(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)(json_array_size(node(L, 1)) + json_object_size(node(L, 1))));
    return 1;
}

static int next_element(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, 2);
    json_t *element = json_array_get(node(L, 1), (size_t)i);
    if (!element) return 0;
    lua_pushinteger(L, i + 1);
    sim_lua_push(L, element);
    return 2;
}

/* for i, element in each(list) */
static int l_each(lua_State *L)
{
    lua_pushcfunction(L, next_element);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

static int next_member(lua_State *L)
{
    json_t *map = node(L, 1);
    const char *before = lua_tostring(L, 2);
    void *at = before ? json_object_iter_next(map, json_object_iter_at(map, before)) : json_object_iter(map);
    if (!at) return 0;
    lua_pushstring(L, json_object_iter_key(at));
    sim_lua_push(L, json_object_iter_value(at));
    return 2;
}

/* for name, value in members(map), in their order */
static int l_members(lua_State *L)
{
    lua_pushcfunction(L, next_member);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* get(map, name): the member of that name, which may have dots. */
static int l_get(lua_State *L)
{
    sim_lua_push(L, json_object_get(node(L, 1), luaL_checkstring(L, 2)));
    return 1;
}

/* element(list, index): from 0; from the end where it is negative. */
static int l_element(lua_State *L)
{
    json_t *list = node(L, 1);
    lua_Integer at = luaL_checkinteger(L, 2), size = (lua_Integer)json_array_size(list);
    sim_lua_push(L, at < -size ? NULL : json_array_get(list, (size_t)(at < 0 ? at + size : at)));
    return 1;
}

/* dump(value): its text, names sorted. */
static int l_dump(lua_State *L)
{
    json_t *value = sim_lua_value(L, 1);
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    lua_pushstring(L, text);
    free(text);
    json_decref(value);
    return 1;
}

/* seconds(text): a time of RFC 3339 as seconds since the epoch; nil if it is none. */
static int l_seconds(lua_State *L)
{
    int64_t seconds;
    if (!civil_read_utc(str_of(luaL_checkstring(L, 1)), &seconds)) return 0;
    lua_pushnumber(L, (lua_Number)seconds);
    return 1;
}

/* hash(text): another one in each process. */
static int l_hash(lua_State *L)
{
    char digits[17];
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    snprintf(digits, sizeof digits, "%016llX", (unsigned long long)hash_bytes(text, n));
    lua_pushstring(L, digits);
    return 1;
}

/* sha256(text): its 32 bytes. */
static int l_sha256(lua_State *L)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size;
    size_t n;
    const char *text = luaL_checklstring(L, 1, &n);
    must(EVP_Digest(text, n, digest, &size, EVP_sha256(), NULL));
    lua_pushlstring(L, (const char *)digest, size);
    return 1;
}

/* base64(text) */
static int l_base64(lua_State *L)
{
    struct buf out = {0};
    struct str text;
    text.p = luaL_checklstring(L, 1, &text.n);
    base64_encode(text, &out);
    lua_pushlstring(L, buf_text(&out), out.len);
    buf_clear(&out);
    return 1;
}

/* unbase64(text): its bytes; nil if it is no base64. */
static int l_unbase64(lua_State *L)
{
    struct buf out = {0};
    struct str text;
    text.p = luaL_checklstring(L, 1, &text.n);
    if (base64_decode(text, &out))
        lua_pushlstring(L, buf_text(&out), out.len);
    else
        lua_pushnil(L);
    buf_clear(&out);
    return 1;
}

/* write(value): its text, names in their order. */
static int l_write(lua_State *L)
{
    struct buf out = {0};
    json_t *value = sim_lua_value(L, 1);
    sim_put_json(&out, value);
    lua_pushlstring(L, out.data, out.len);
    buf_clear(&out);
    json_decref(value);
    return 1;
}

/* equal(a, b) */
static int l_equal(lua_State *L)
{
    json_t *a = sim_lua_value(L, 1), *b = sim_lua_value(L, 2);
    lua_pushboolean(L, json_equal(a, b));
    json_decref(a);
    json_decref(b);
    return 1;
}

/* --- making */

static json_t **made_of(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, made_key);
    json_t **made = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return made;
}

/* Keeps a new value until the call is over. */
static json_t *keep(lua_State *L, json_t *value)
{
    json_t **made = made_of(L);
    if (!*made) *made = json_array();
    json_array_append_new(*made, value);
    return value;
}

void sim_lua_forget(lua_State *L)
{
    json_t **made = made_of(L);
    json_decref(*made);
    *made = NULL;
}

void sim_lua_push_new(lua_State *L, json_t *value)
{
    sim_lua_push(L, value ? keep(L, value) : NULL);
}

/* Returns what the second argument names in the first. */
static json_t *named(lua_State *L)
{
    json_t *holder = node(L, 1);
    return json_is_array(holder) ? json_array_get(holder, (size_t)luaL_checkinteger(L, 2))
                                 : json_object_get(holder, luaL_checkstring(L, 2));
}

/* set(map or list, name or index, value): nothing for nil. A map, list or number that it replaces is there
 * until the call is over: Lua may still have it. */
static int l_set(lua_State *L)
{
    json_t *holder = node(L, 1), *old = named(L);
    if (lua_isnil(L, 3)) return 0;
    if (json_is_object(old) || json_is_array(old) || json_is_number(old)) keep(L, json_incref(old));
    if (json_is_array(holder))
        json_array_set_new(holder, (size_t)luaL_checkinteger(L, 2), sim_lua_value(L, 3));
    else
        json_object_set_new(holder, luaL_checkstring(L, 2), sim_lua_value(L, 3));
    return 0;
}

/* object(name, value, ...): a new map; those that are nil are left out. */
static int l_object(lua_State *L)
{
    json_t *map = keep(L, json_object());
    for (int i = 1; i < lua_gettop(L); i += 2)
        if (!lua_isnil(L, i + 1)) json_object_set_new(map, luaL_checkstring(L, i), sim_lua_value(L, i + 1));
    lua_pushlightuserdata(L, map);
    return 1;
}

/* parse(text): the map or the list that it is; nil if it is none. */
static int l_parse(lua_State *L)
{
    json_error_t error;
    sim_lua_push_new(L, sim_parse(str_of(luaL_checkstring(L, 1)), 0, &error));
    return 1;
}

/* read(text, type): the map that it is; null, or nil with why Go does not read it as that type. */
static int l_read(lua_State *L)
{
    char *why = NULL;
    struct str text;
    text.p = luaL_checklstring(L, 1, &text.n);
    sim_lua_push_new(L, sim_parse_as(text, JSON_OBJECT, luaL_checkstring(L, 2), &why));
    lua_pushstring(L, why);
    free(why);
    return 2;
}

/* copy(value): of all that is in it. */
static int l_copy(lua_State *L)
{
    if (node(L, 1))
        lua_pushlightuserdata(L, keep(L, json_deep_copy(node(L, 1))));
    else
        lua_pushvalue(L, 1);
    return 1;
}

/* insert(list, index, value): before the element at the index, from 0. */
static int l_insert(lua_State *L)
{
    json_array_insert_new(node(L, 1), (size_t)luaL_checkinteger(L, 2), sim_lua_value(L, 3));
    return 0;
}

/* remove(map or list, name or index): what is removed is there until the call is over. */
static int l_remove(lua_State *L)
{
    json_t *holder = node(L, 1), *value = named(L);
    if (value) keep(L, json_incref(value));
    if (json_is_array(holder))
        json_array_remove(holder, (size_t)luaL_checkinteger(L, 2));
    else
        json_object_del(holder, luaL_checkstring(L, 2));
    return 0;
}

/* integer(number): without its fraction; also one that a double of Lua does not hold. */
static int l_integer(lua_State *L)
{
    sim_lua_push_new(L, json_integer((json_int_t)luaL_checknumber(L, 1)));
    return 1;
}

void sim_lua_open_json(lua_State *L)
{
    static const luaL_Reg functions[] = {{"at", l_at},
                                         {"text", l_text},
                                         {"int", l_int},
                                         {"number", l_number},
                                         {"type", l_type},
                                         {"count", l_count},
                                         {"each", l_each},
                                         {"members", l_members},
                                         {"get", l_get},
                                         {"element", l_element},
                                         {"dump", l_dump},
                                         {"set", l_set},
                                         {"object", l_object},
                                         {"integer", l_integer},
                                         {"copy", l_copy},
                                         {"insert", l_insert},
                                         {"remove", l_remove},
                                         {"equal", l_equal},
                                         {"hash", l_hash},
                                         {"sha256", l_sha256},
                                         {"base64", l_base64},
                                         {"write", l_write},
                                         {"parse", l_parse},
                                         {"seconds", l_seconds},
                                         {"unbase64", l_unbase64},
                                         {"read", l_read},
                                         {NULL, NULL}};
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    *(json_t **)lua_newuserdata(L, sizeof(json_t *)) = NULL;
    lua_setfield(L, LUA_REGISTRYINDEX, made_key);
    lua_pushlightuserdata(L, json_null());
    lua_setfield(L, -2, "null");
}
