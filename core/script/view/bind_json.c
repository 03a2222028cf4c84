/* raw.json: converts strings to tables and back. */
#include "object/pack/pack.h"
#include "object/parse/tape.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"

enum { PARSER_TEXT_MAX = 1 << 20 };

static int l_json_encode(lua_State *L)
{
    struct buf *out = json_encode(L, 1, "k8s.json.encode", 0);
    lua_pushlstring(L, out->data, out->len);
    return 1;
}

/* array(table): marks the table as an array and returns it; without a table, a new array. */
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

struct decoder {
    lua_State *L;
    struct tape tape;
    const char *verb;
};

static void push_tape(const struct decoder *d, size_t at, int depth);

static void push_tape_object(const struct decoder *d, size_t at, int depth)
{
    struct str key;
    lua_newtable(d->L);
    for (size_t v = tape_first(&d->tape, at, &key); v; v = tape_next(&d->tape, at, v, &key)) {
        lua_pushlstring(d->L, key.p, key.n);
        push_tape(d, v, depth + 1);
        lua_rawset(d->L, -3);
    }
}

static void push_tape_array(const struct decoder *d, size_t at, int depth)
{
    int i = 0;
    lua_newtable(d->L);
    copy_mark_array(d->L);
    for (size_t v = tape_first(&d->tape, at, NULL); v; v = tape_next(&d->tape, at, v, NULL)) {
        push_tape(d, v, depth + 1);
        lua_rawseti(d->L, -2, ++i);
    }
}

static void push_tape(const struct decoder *d, size_t at, int depth)
{
    lua_State *L = d->L;
    const uint64_t *word = &d->tape.words[at + 1];
    struct str s;
    double number;
    budget_poll(L, script_of(L));
    if (depth > PACK_DEPTH_MAX || !lua_checkstack(L, 6)) script_raise(L, "%s: nested too deeply", d->verb);
    switch (tape_type(&d->tape, at)) {
    case '{': push_tape_object(d, at, depth); break;
    case '[': push_tape_array(d, at, depth); break;
    case '"':
        s = tape_str(&d->tape, at);
        lua_pushlstring(L, s.p, s.n);
        break;
    case 'l': push_int64(L, (int64_t)*word); break;
    case 'u': push_uint64(L, *word); break;
    case 'd':
        memcpy(&number, word, sizeof number);
        lua_pushnumber(L, number);
        break;
    case 't': lua_pushboolean(L, 1); break;
    case 'f': lua_pushboolean(L, 0); break;
    default: push_null(L); break;
    }
}

/* Frees the parser, which keeps the memory of the largest text it parsed. */
static void forget_parser(struct script *script)
{
    tape_parser_free(script->scratch.parser);
    script->scratch.parser = NULL;
}

int json_decode(lua_State *L, struct buf *text, const char *verb)
{
    struct script *script = script_of(L);
    struct decoder d = {.L = L, .verb = verb};
    struct err err;
    memset(buf_reserve(text, TAPE_PADDING), 0, TAPE_PADDING);
    if (text->len > PARSER_TEXT_MAX) forget_parser(script);
    if (!script->scratch.parser) script->scratch.parser = tape_parser_new();
    if (!tape_parse(script->scratch.parser, text->data, text->len, &d.tape, &err))
        return push_error(L, 0, "Invalid", str_of(err.text));
    push_tape(&d, tape_root(&d.tape), 0);
    if (text->len > PARSER_TEXT_MAX) forget_parser(script);
    return 1;
}

/* decode(text): tables as obj:copy() returns them; nil, err for text that is not JSON. */
static int l_json_decode(lua_State *L)
{
    struct str text = arg_bytes(L, 1, "k8s.json.decode: text");
    struct buf *padded = script_scratch(script_of(L));
    arg_value_size(L, "k8s.json.decode", text.n);
    buf_reserve(padded, text.n + TAPE_PADDING);
    buf_str(padded, text);
    return json_decode(L, padded, "k8s.json.decode");
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
