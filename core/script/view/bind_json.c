/* raw.json: text to tables and back. */
#include "object/pack/pack.h"
#include "object/parse/tape.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

enum { PARSER_TEXT_MAX = 1 << 20 };

static int l_json_encode(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    struct buf *out = json_encode(L, 1, "k8s.json.encode", 0);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* Marks a table as an array and gives it back; without one, a new array. */
static int l_json_array(lua_State *L)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    arg_table(L, 1, "k8s.json.array: the value");
    lua_settop(L, 1);
    copy_mark_array(L);
    return 1;
}

static void push_tape(lua_State *L, const struct tape *tape, size_t at, int depth);

static void push_tape_object(lua_State *L, const struct tape *tape, size_t at, int depth)
{
    struct str key;
    lua_newtable(L);
    for (size_t v = tape_first(tape, at, &key); v; v = tape_next(tape, at, v, &key)) {
        lua_pushlstring(L, key.p, key.n);
        push_tape(L, tape, v, depth + 1);
        lua_rawset(L, -3);
    }
}

static void push_tape_array(lua_State *L, const struct tape *tape, size_t at, int depth)
{
    int i = 0;
    lua_newtable(L);
    copy_mark_array(L);
    for (size_t v = tape_first(tape, at, NULL); v; v = tape_next(tape, at, v, NULL)) {
        push_tape(L, tape, v, depth + 1);
        lua_rawseti(L, -2, ++i);
    }
}

static void push_tape(lua_State *L, const struct tape *tape, size_t at, int depth)
{
    struct str s;
    double d;
    budget_poll(L, script_of(L));
    if (depth > PACK_DEPTH_MAX || !lua_checkstack(L, 6)) script_raise(L, "k8s.json.decode: nested too deep");
    switch (tape_type(tape, at)) {
    case '{': push_tape_object(L, tape, at, depth); break;
    case '[': push_tape_array(L, tape, at, depth); break;
    case '"':
        s = tape_str(tape, at);
        lua_pushlstring(L, s.p, s.n);
        break;
    case 'l': push_int64(L, (int64_t)tape->words[at + 1]); break;
    case 'u': push_uint64(L, tape->words[at + 1]); break;
    case 'd':
        memcpy(&d, &tape->words[at + 1], sizeof d);
        lua_pushnumber(L, d);
        break;
    case 't': lua_pushboolean(L, 1); break;
    case 'f': lua_pushboolean(L, 0); break;
    default: push_null(L); break;
    }
}

/* A parser keeps the memory of the largest text it saw. */
static void forget_parser(struct script *script)
{
    tape_parser_free(script->scratch.parser);
    script->scratch.parser = NULL;
}

/* decode(text): tables as obj:copy() gives them; nil, err for text that is no JSON. */
static int l_json_decode(lua_State *L)
{
    struct script *script = script_of(L);
    struct str text = arg_bytes(L, 1, "k8s.json.decode: text");
    arg_value_size(L, "k8s.json.decode", text.n);
    struct buf *padded = script_scratch(script);
    struct tape tape;
    struct err err;
    memset(buf_reserve(padded, text.n + TAPE_PADDING), 0, text.n + TAPE_PADDING);
    buf_str(padded, text);
    if (text.n > PARSER_TEXT_MAX) forget_parser(script);
    if (!script->scratch.parser) script->scratch.parser = tape_parser_new();
    if (!tape_parse(script->scratch.parser, padded->data, padded->len, &tape, &err))
        return push_error(L, 0, "Invalid", str_of(err.text));
    push_tape(L, &tape, tape_root(&tape), 0);
    if (text.n > PARSER_TEXT_MAX) forget_parser(script);
    return 1;
}

static void bind_json(lua_State *L)
{
    static const luaL_Reg verbs[] = {
        {"encode", l_json_encode}, {"decode", l_json_decode}, {"array", l_json_array}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "json");
}

const struct feature feature_json = {.parts = {"json"}, .bind = bind_json};
