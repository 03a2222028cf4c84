/* raw.regex: k8s.regex, searches by regular expressions (base/text/regex.h). gmatch and gsub are Lua
 * (lua/k8s/regex.lua). */
#include <stdlib.h>

#include "base/text/regex.h"
#include "script/vm/args.h"
#include "script/vm/budget.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"

enum { SHOWN_MAX = 60 };

struct regex_box {
    struct regex *regex; /* NULL while it is made */
    int pattern;         /* in the registry */
};

static void push_pattern(lua_State *L, const struct regex_box *box)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, box->pattern);
}

/* new(pattern) */
static int l_regex_new(lua_State *L)
{
    struct err err;
    struct str pattern = arg_bytes(L, 1, "k8s.regex: pattern");
    lua_settop(L, 1);
    struct regex_box *box = lua_newuserdata(L, sizeof *box);
    *box = (struct regex_box){.pattern = LUA_NOREF};
    class_set(L, script_of(L), CLASS_REGEX);
    lua_pushvalue(L, 1);
    box->pattern = luaL_ref(L, LUA_REGISTRYINDEX);
    box->regex = regex_new(pattern, &err);
    if (!box->regex) script_raise(L, "k8s.regex: \"%.*s\": %s", SHOWN_MAX, pattern.p, err.text);
    memory_note(script_of(L), (ptrdiff_t)regex_size(box->regex));
    return 1;
}

static int l_regex_gc(lua_State *L)
{
    struct regex_box *box = lua_touserdata(L, 1);
    if (box->regex) memory_note(script_of(L), -(ptrdiff_t)regex_size(box->regex));
    regex_free(box->regex);
    box->regex = NULL;
    luaL_unref(L, LUA_REGISTRYINDEX, box->pattern);
    box->pattern = LUA_NOREF;
    return 0;
}

static int l_regex_tostring(lua_State *L)
{
    struct regex_box *box = class_self(L, CLASS_REGEX, "tostring");
    lua_pushliteral(L, "regex ");
    push_pattern(L, box);
    lua_concat(L, 2);
    return 1;
}

/* As in string.find: from the end if it is negative. */
static size_t init_arg(lua_State *L, const char *method, int idx, size_t length)
{
    if (!lua_isnoneornil(L, idx) && !lua_isnumber(L, idx))
        script_raise(L, "regex:%s: init must be a number, not %s", method, arg_type_name(L, idx));
    lua_Number init = lua_isnoneornil(L, idx) ? 1 : lua_tonumber(L, idx);
    if (init < 0) init += (lua_Number)length + 1;
    if (!(init >= 1)) return 0;
    return init > (lua_Number)length + 1 ? length + 1 : (size_t)init - 1;
}

/* A capture that took no part is false, as in lrexlib. */
static void push_span(lua_State *L, const struct regex_search *search, size_t i)
{
    const struct regex_span *span = &search->spans[i];
    if (span->begin == REGEX_UNSET)
        lua_pushboolean(L, false); /* nil would end a loop over gmatch */
    else
        lua_pushlstring(L, search->text.p + span->begin, span->end - span->begin);
}

/* Arguments: the regex, the text, init, and whether the text is UTF-8 (nil: not known). Returns false if
 * there is no match; raises what is over a limit. */
static bool search_args(lua_State *L, const char *method, struct regex_search *search, size_t *captures)
{
    struct err err;
    struct regex_box *box = class_self(L, CLASS_REGEX, method);
    lua_settop(L, 4);
    lua_pushfstring(L, "regex:%s: text", method);
    search->text = arg_bytes(L, 2, own_text(L, -1));
    lua_pop(L, 1);
    search->is_utf8 = lua_isnoneornil(L, 4) ? regex_is_utf8(search->text) : lua_toboolean(L, 4);
    search->from = init_arg(L, method, 3, search->text.n);
    search->stop = &script_of(L)->budget.stop;
    *captures = regex_captures(box->regex);
    enum regex_end end = regex_find(box->regex, search, &err);
    if (end == REGEX_STOPPED) {
        struct steps steps;
        steps_init(&steps, L);
        steps_check(&steps);
        script_raise(L, "regex:%s: stopped", method);
    }
    if (end == REGEX_FAILED) {
        push_pattern(L, box);
        script_raise(L, "regex:%s: \"%.*s\": %s", method, SHOWN_MAX, own_text(L, -1), err.text);
    }
    luaL_checkstack(L, (int)*captures + 3, "k8s.regex");
    return end == REGEX_FOUND;
}

/* regex:find(text, init): where the match begins and ends, and the captures; nil for none. */
static int l_regex_find(lua_State *L)
{
    struct regex_search search;
    size_t captures;
    if (!search_args(L, "find", &search, &captures)) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushnumber(L, (lua_Number)search.spans[0].begin + 1);
    lua_pushnumber(L, (lua_Number)search.spans[0].end);
    for (size_t i = 1; i <= captures; i++) push_span(L, &search, i);
    return 2 + (int)captures;
}

/* regex:match(text, init): the captures, or the match where the pattern has none; nil for none. */
static int l_regex_match(lua_State *L)
{
    struct regex_search search;
    size_t captures;
    if (!search_args(L, "match", &search, &captures)) {
        lua_pushnil(L);
        return 1;
    }
    if (captures == 0) push_span(L, &search, 0);
    for (size_t i = 1; i <= captures; i++) push_span(L, &search, i);
    return captures ? (int)captures : 1;
}

/* check(value, method): raises unless it is a regex. */
static int l_regex_check(lua_State *L)
{
    class_self(L, CLASS_REGEX, arg_str(L, 2, "the method").p);
    return 0;
}

/* is_utf8(text) */
static int l_regex_is_utf8(lua_State *L)
{
    lua_pushboolean(L, regex_is_utf8(arg_bytes(L, 1, "the text")));
    return 1;
}

static const luaL_Reg regex_methods[] = {{"find", l_regex_find}, {"match", l_regex_match}, {NULL, NULL}};

static void bind_regex(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_regex_gc},
                                    {"__tostring", l_regex_tostring},
                                    {CLASS_NAMED_BY, l_regex_tostring},
                                    {NULL, NULL}};
    static const luaL_Reg verbs[] = {
        {"new", l_regex_new}, {"is_utf8", l_regex_is_utf8}, {"check", l_regex_check}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    class_define(L, CLASS_REGEX, "regex", meta, regex_methods);
    lua_setfield(L, -2, "methods"); /* lua/k8s/regex.lua adds its own */
    lua_setfield(L, -2, "regex");
}

const struct feature feature_regex = {
    .parts = {"regex"}, .bind = bind_regex, .classes = CLASS_BIT(CLASS_REGEX)};
