/* JSON as values of Lua; see tool.h. */
#include <lauxlib.h>
#include <string.h>

#include "base/buf.h"
#include "tool/tool.h"

static void push_number(lua_State *L, const struct tape *tape, size_t at)
{
    double value;
    if (tape_type(tape, at) == 'd')
        memcpy(&value, &tape->words[at + 1], sizeof value);
    else
        value = tape_type(tape, at) == 'u' ? (double)tape->words[at + 1] : (double)tape_int(tape, at, 0);
    lua_pushnumber(L, value);
}

static void push_array(lua_State *L, const struct tape *tape, size_t at)
{
    int n = 0;
    lua_newtable(L);
    for (size_t v = tape_first(tape, at, NULL); v; v = tape_next(tape, at, v, NULL)) {
        tool_push_json(L, tape, v);
        lua_rawseti(L, -2, ++n);
    }
}

static void push_object(lua_State *L, const struct tape *tape, size_t at)
{
    int n = 0;
    struct str name;
    lua_newtable(L);
    lua_newtable(L); /* names */
    for (size_t v = tape_first(tape, at, &name); v; v = tape_next(tape, at, v, &name)) {
        lua_pushlstring(L, name.p, name.n);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, ++n);
        tool_push_json(L, tape, v);
        lua_rawset(L, -4);
    }
    lua_createtable(L, 0, 1);
    lua_insert(L, -2);
    lua_setfield(L, -2, "names");
    lua_setmetatable(L, -2);
}

void tool_push_json(lua_State *L, const struct tape *tape, size_t at)
{
    struct str text;
    luaL_checkstack(L, 8, "JSON is too deep");
    switch (tape_type(tape, at)) {
    case '{': push_object(L, tape, at); break;
    case '[': push_array(L, tape, at); break;
    case '"':
        text = tape_str(tape, at);
        lua_pushlstring(L, text.p, text.n);
        break;
    case 't':
    case 'f': lua_pushboolean(L, tape_type(tape, at) == 't'); break;
    case 'l':
    case 'u':
    case 'd': push_number(L, tape, at); break;
    default: lua_pushlightuserdata(L, NULL);
    }
}

bool tool_parse_json(lua_State *L, struct str text, struct err *err)
{
    struct tape tape;
    struct buf padded = {0};
    struct tape_parser *parser = tape_parser_new();
    buf_str(&padded, text);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    bool ok = tape_parse(parser, padded.data, text.n, &tape, err);
    if (ok) tool_push_json(L, &tape, tape_root(&tape));
    tape_parser_free(parser);
    buf_clear(&padded);
    return ok;
}
