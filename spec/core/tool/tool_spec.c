/* core/tool: calls of the program's own Lua, JSON and flags as its values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>

#include "tool/tool.h"

/* Runs a chunk with the value on the top of the stack; it returns a text. */
static void gives(lua_State *L, const char *chunk, const char *text)
{
    if (luaL_loadstring(L, chunk) != 0) fail_msg("%s", lua_tostring(L, -1));
    lua_insert(L, -2);
    if (lua_pcall(L, 1, 1, 0) != 0) fail_msg("%s", lua_tostring(L, -1));
    assert_string_equal(lua_tostring(L, -1), text);
    lua_pop(L, 1);
}

static void test_modules_of_the_program_are_required(void **state)
{
    lua_State *L = tool_open();
    lua_pushnil(L);
    gives(L, "return require('tool.json').text('a\"b\\n')", "\"a\\\"b\\n\"");
    lua_pushnil(L);
    gives(L, "return tostring((pcall(require, 'k8s')))", "false");
    lua_close(L);
}

static void test_a_call_takes_its_arguments_and_raises(void **state)
{
    struct err err;
    lua_State *L = tool_open();
    luaL_loadstring(L, "package.preload.one = function() return function(a, b) return a .. b end end "
                       "package.preload.two = function() return function(a) error(a, 0) end end");
    assert_int_equal(lua_pcall(L, 0, 0, 0), 0);
    lua_pushstring(L, "x");
    lua_pushstring(L, "y");
    assert_true(tool_call(L, "one", &err));
    assert_string_equal(lua_tostring(L, -1), "xy");
    lua_settop(L, 0);
    lua_pushstring(L, "no");
    assert_false(tool_call(L, "two", &err));
    assert_string_equal(err.text, "no");
    assert_int_equal(lua_gettop(L), 0);
    assert_false(tool_call(L, "three", &err));
    assert_non_null(strstr(err.text, "three"));
    lua_close(L);
}

static void test_json_keeps_the_order_of_names_and_its_nulls(void **state)
{
    struct err err;
    lua_State *L = tool_open();
    const char *chunk = "local v = ... local out = {} "
                        "for i, name in ipairs(getmetatable(v).names) do "
                        "out[i] = name .. '=' .. type(v[name]) end "
                        "return table.concat(out, ' ') .. ' ' .. #v.l .. v.l[2].t .. v.n + v.d + v.u";
    assert_true(tool_parse_json(L,
                                STR("{\"z\":null,\"l\":[true,{\"t\":\"x\"},[]],\"n\":-1,\"d\":0.5,\"u\":"
                                    "18446744073709551615,\"b\":false}"),
                                &err));
    gives(L, chunk, "z=userdata l=table n=number d=number u=number b=boolean 3x1.844674407371e+19");
    assert_false(tool_parse_json(L, STR("{"), &err));
    assert_int_equal(lua_gettop(L), 0);
    lua_close(L);
}

/* A table keeps numbers as they are written, and what is deep as text. */
static void test_cells_of_a_table_have_their_json(void **state)
{
    static const char json[] = "[{\"n\":9007199254740993,\"s\":\"x\",\"d\":{\"a\":[1]},\"z\":null},[1.5],7]";
    char text[sizeof json + TAPE_PADDING] = {0};
    struct tape tape;
    struct err err;
    memcpy(text, json, sizeof json);
    struct tape_parser *parser = tape_parser_new();
    assert_true(tape_parse(parser, text, sizeof json - 1, &tape, &err));
    lua_State *L = tool_open();
    tool_push_cells(L, &tape, tape_root(&tape));
    gives(L,
          "local v = ... local json = function(x) return getmetatable(x).json end "
          "local is = function(x) return tostring(getmetatable(x).is_cell) end "
          "return table.concat({json(v[1].n), is(v[1].n), v[1].s, json(v[1].d), type(v[1].z), json(v[1]), "
          "is(v[1]), "
          "json(v[2]), is(v[2]), json(v[2][1]), json(v[3]), is(v[3])}, ' ')",
          "9007199254740993 true x {\"a\":[1]} userdata "
          "{\"n\":9007199254740993,\"s\":\"x\",\"d\":{\"a\":[1]},\"z\":null} nil [1.5] nil 1.5 7 true");
    lua_close(L);
    tape_parser_free(parser);
}

static void test_flags_are_fields_of_their_names(void **state)
{
    int count = 3;
    bool yes = true;
    double share = 0.5;
    int64_t ms = 1500;
    size_t bytes = 64;
    const char *text = "some", *none = NULL;
    const char *items[] = {"a", "b"};
    struct flag_list list = {items, 2};
    const struct flag flags[] = {
        {"count", 0, FLAG_COUNT, &count, "N", NULL, ""},  {"dry-run", 0, FLAG_BOOL, &yes, NULL, NULL, ""},
        {"share", 0, FLAG_NUMBER, &share, "N", NULL, ""}, {"wait", 0, FLAG_DURATION_MS, &ms, "N", NULL, ""},
        {"room", 0, FLAG_SIZE, &bytes, "N", NULL, ""},    {"text", 0, FLAG_STRING, &text, "N", NULL, ""},
        {"none", 0, FLAG_STRING, &none, "N", NULL, ""},   {"list", 0, FLAG_LIST, &list, "N", NULL, ""},
        {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
    };
    lua_State *L = tool_open();
    tool_push_flags(L, flags);
    gives(L,
          "local f = ... return table.concat({f.count, tostring(f['dry-run']), f.share, f.wait, f.room, "
          "f.text, "
          "tostring(f.none), f.list[1] .. f.list[2]}, ' ')",
          "3 true 0.5 1500 64 some nil ab");
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules_of_the_program_are_required),
        cmocka_unit_test(test_a_call_takes_its_arguments_and_raises),
        cmocka_unit_test(test_json_keeps_the_order_of_names_and_its_nulls),
        cmocka_unit_test(test_cells_of_a_table_have_their_json),
        cmocka_unit_test(test_flags_are_fields_of_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
