/* JSON as values of Lua; see tool.h. */
#include <lauxlib.h>
#include <string.h>

#include "base/buf.h"
#include "object/parse/document.h"
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

/* Pushes a value of a container. */
typedef void push_fn(lua_State *L, const struct tape *tape, size_t at);

static void push_array(lua_State *L, const struct tape *tape, size_t at, push_fn *push)
{
    int n = 0;
    lua_newtable(L);
    for (size_t v = tape_first(tape, at, NULL); v; v = tape_next(tape, at, v, NULL)) {
        push(L, tape, v);
        lua_rawseti(L, -2, ++n);
    }
}

static void push_object(lua_State *L, const struct tape *tape, size_t at, push_fn *push)
{
    int n = 0;
    struct str name;
    lua_newtable(L);
    lua_newtable(L); /* names */
    for (size_t v = tape_first(tape, at, &name); v; v = tape_next(tape, at, v, &name)) {
        lua_pushlstring(L, name.p, name.n);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, ++n);
        push(L, tape, v);
        lua_rawset(L, -4);
    }
    lua_createtable(L, 0, 1);
    lua_insert(L, -2);
    lua_setfield(L, -2, "names");
    lua_setmetatable(L, -2);
}

static void push_scalar(lua_State *L, const struct tape *tape, size_t at)
{
    struct str text;
    switch (tape_type(tape, at)) {
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

/* Returns false when the value is no container. */
static bool push_container(lua_State *L, const struct tape *tape, size_t at, push_fn *push)
{
    char type = tape_type(tape, at);
    luaL_checkstack(L, 8, "JSON is too deep");
    if (type == '{') push_object(L, tape, at, push);
    if (type == '[') push_array(L, tape, at, push);
    return type == '{' || type == '[';
}

void tool_push_json(lua_State *L, const struct tape *tape, size_t at)
{
    if (!push_container(L, tape, at, tool_push_json)) push_scalar(L, tape, at);
}

/* Sets the text as `json` of the metatable of the table on top. */
static void set_text(lua_State *L, const struct tape *tape, size_t at)
{
    struct buf text = {0};
    document_compact(tape, at, &text);
    if (!lua_getmetatable(L, -1)) lua_createtable(L, 0, 2);
    lua_pushlstring(L, buf_text(&text), text.len);
    lua_setfield(L, -2, "json");
    lua_setmetatable(L, -2);
    buf_clear(&text);
}

/* A number may be more than Lua's have, and what is deep is shown as it is written. */
static void push_cell(lua_State *L, const struct tape *tape, size_t at)
{
    char type = tape_type(tape, at);
    if (type == '"' || type == 'n') {
        push_scalar(L, tape, at);
        return;
    }
    lua_newtable(L);
    set_text(L, tape, at);
    lua_getmetatable(L, -1);
    lua_pushboolean(L, true);
    lua_setfield(L, -2, "is_cell");
    lua_pop(L, 1);
}

static void push_row(lua_State *L, const struct tape *tape, size_t at)
{
    if (push_container(L, tape, at, push_cell))
        set_text(L, tape, at);
    else
        push_cell(L, tape, at);
}

void tool_push_cells(lua_State *L, const struct tape *tape, size_t at)
{
    if (!push_container(L, tape, at, push_row)) push_cell(L, tape, at);
}

/* Integers that a double does not hold are empty tables with their text. */
static void push_exact(lua_State *L, const struct tape *tape, size_t at)
{
    const int64_t most = (int64_t)1 << 53;
    char type = tape_type(tape, at);
    if (push_container(L, tape, at, push_exact)) return;
    int64_t value = type == 'l' ? tape_int(tape, at, 0) : 0;
    if (type != 'u' && value >= -most && value <= most) {
        push_scalar(L, tape, at);
        return;
    }
    lua_newtable(L);
    set_text(L, tape, at);
}

static bool parse(lua_State *L, struct str text, push_fn *push, struct err *err)
{
    struct tape tape;
    struct buf padded = {0};
    struct tape_parser *parser = tape_parser_new();
    buf_str(&padded, text);
    memset(buf_reserve(&padded, TAPE_PADDING), 0, TAPE_PADDING);
    bool ok = tape_parse(parser, padded.data, text.n, &tape, err);
    if (ok) push(L, &tape, tape_root(&tape));
    tape_parser_free(parser);
    buf_clear(&padded);
    return ok;
}

bool tool_parse_json(lua_State *L, struct str text, struct err *err)
{
    return parse(L, text, tool_push_json, err);
}

bool tool_parse_exact(lua_State *L, struct str text, struct err *err)
{
    return parse(L, text, push_exact, err);
}

int tool_quote(lua_State *L)
{
    struct str given;
    struct buf text = {0};
    given.p = luaL_checklstring(L, 1, &given.n);
    buf_json_string(&text, given);
    lua_pushlstring(L, buf_text(&text), text.len);
    buf_clear(&text);
    return 1;
}
