/* core/script/string_build, table_library, load_text and lua/k8s/prelude: functions of Lua's libraries that
 * could make much of little, or take long, are bounded, and else what they are in Lua. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/script/support/fixture.h"

struct row {
    const char *lua, *expected;
};

static void test_they_do_what_lua_does(void **state)
{
    static const struct row list[] = {
        {"return ('ab'):rep(3)", "ababab"},
        {"return ('ab'):rep(3, ',')", "ab,ab,ab"},
        {"return ('ab'):rep(1, ',') .. ('ab'):rep(0, ',') .. ('ab'):rep(-1) .. (''):rep(1e9)", "ab"},
        {"return #('a\\0'):rep(3)", "6"},
        {"return ('%s %5.1f %q %d%% %s'):format('a', 1.5, 'b\\n', 3, nil)", "a   1.5 \"b\\\n\" 3% nil"},
        {"return ('%s'):format(setmetatable({}, {__tostring = function() return 'own' end}))", "own"},
        {"return ('%-5s|%.2s|'):format(setmetatable({}, {__tostring = function() return 'own' end}), 'long')",
         "own  |lo|"},
        {"return table.concat({1, 'a', 2.5})", "1a2.5"},
        {"return table.concat({'a', 'b', 'c'}, ', ', 2, 3) .. table.concat({}, ',') .. table.concat({'x'}, "
         "',', 2)",
         "b, c"},
        {"local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) table.insert(t, 5, 4) return "
         "table.concat(t, ' ')",
         "0 1 2 3 4"},
        {"local t = {3, 1, 2} table.sort(t) return table.concat(t)", "123"},
        {"local t = {'b', 'a'} table.sort(t, function(a, b) return a > b end) return table.concat(t)", "ba"},
        {"local m = {__lt = function(a, b) return a.n < b.n end} local t = {setmetatable({n = 2}, m), "
         "setmetatable({n = 1}, m)} table.sort(t) return t[1].n",
         "1"},
        {"local t = {} for i = 1, 5000 do t[i] = (i * 7919) % 5003 end table.sort(t) for i = 2, #t do "
         "assert(t[i - 1] "
         "<= t[i]) end return #t",
         "5000"},
        {"local s = '' local r = table.foreach({5, x = 6}, function(k, v) s = s .. k .. v if v == 6 then "
         "return s end end) return r",
         "15x6"},
        {"local s = '' table.foreachi({5, 6, x = 7}, function(i, v) s = s .. i .. v end) return s", "1526"},
        {"return os.date('!%Y-%m-%d', 0)", "1970-01-01"},
        {"return type(os.date()) .. os.date('!*t', 0).year", "string1970"},
        {"return load(('local a = 1 '):rep(180) .. 'return a')()", "1"},
        {"local n = 0 return load(function() n = n + 1 return n < 5000 and 'a = 1 ' or nil end) ~= nil",
         "true"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        const char *text = fixture_run(f, list[i].lua);
        if (strcmp(text, list[i].expected) != 0)
            fail_msg("%s\n  gave: %s\n  wanted: %s", list[i].lua, text, list[i].expected);
    }
}

static void test_what_they_make_is_bounded(void **state)
{
    static const struct row list[] = {
        {"local x = ('x'):rep(2^24 + 1)", "string.rep: over the limit value-size (16Mi)"},
        {"local x = ('x'):rep(2^53)", "string.rep: over the limit value-size"},
        {"local x = ('xyz'):rep(1e300)", "string.rep: over the limit value-size"},
        {"local x = ('xyz'):rep(2, ('y'):rep(2^24))", "string.rep: over the limit value-size"},
        {"local s = ('x'):rep(2^23) local x = ('%s%s%s'):format(s, s, s)",
         "string.format: over the limit value-size (16Mi)"},
        {"local s = ('x'):rep(2^23) local x = ('%q'):format(s)", "string.format: over the limit value-size"},
        {"local s = setmetatable({}, {__tostring = function() return ('x'):rep(2^23) end}) local x = "
         "('%s%s%s'):format(s, s, s)",
         "string.format: over the limit value-size"},
        {"local n = 0 local s = setmetatable({}, {__tostring = function() n = n + 1 return n > 1 and "
         "('x'):rep(2^24) or 1 end}) local x = ('%s%s'):format(s, s)",
         "'__tostring' must return a string"},
        {"local s, t = ('x'):rep(2^20), {} for i = 1, 17 do t[i] = s end local x = table.concat(t)",
         "table.concat: over the limit value-size (16Mi)"},
        {"local s = ('x'):rep(2^20) local x = table.concat({'', '', '', '', '', '', '', '', '', '', '', '', "
         "'', '', '', "
         "'', '', ''}, s)",
         "table.concat: over the limit value-size"},
        {"local s = ('x'):rep(2^23) print(s, s, s)", "print: over the limit value-size (16Mi)"},
        {"local x = os.date(('%c'):rep(501))", "os.date: the format is longer than the limit of 1000 bytes"},
        {"local x = load((' '):rep(2^20 + 1))", "load: chunk exceeds 1024 KiB"},
        {"local s = (' '):rep(2^19) local x = load(function() return s end)", "load: chunk exceeds 1024 KiB"},
        {"local x = ('x'):rep(2^14):byte(1, -1)", "string slice too long"},
        {"local x = {unpack({}, 1, 1e7)}", "too many results to unpack"},
        {"table.insert({}, -2^31, 1)", "bad argument #2 to 'insert' (position out of bounds)"},
        {"table.insert({}, 0, 1)", "position out of bounds"},
        {"table.insert({}, 2^40, 1)", "position out of bounds"},
        {"table.insert({})", "wrong number of arguments to 'insert'"},
        {"table.insert(5, 1)", "bad argument #1 to 'insert' (table expected, got number)"},
        {"local x = table.concat({1, {}, 2})", "invalid value (table) at index 2 in table for 'concat'"},
        {"local x = table.concat({1, 2}, ',', 1, 3)", "invalid value (nil) at index 3 in table for 'concat'"},
        {"local x = ('%d'):format('x')", "bad argument #1 to 'format' (number expected, got string)"},
        {"local x = ('%s %s'):format('x')", "bad argument #2 to 'format'"},
        {"local x = ('%y'):format(1)", "invalid option '%y' to 'format'"},
        {"table.sort({1, 'a', 2})", "snippet.lua:1: attempt to compare"},
        {"table.sort({{}, {}, {}})", "snippet.lua:1: attempt to compare two table values"},
        {"table.sort({1, 2}, 5)", "bad argument #2 to 'sort' (function expected, got number)"},
        {"local t = {} for i = 1, 100 do t[i] = i % 3 end table.sort(t, function() return true end)",
         "invalid order function for sorting"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(list); i++) assert_raises(f, list[i].lua, list[i].expected);
}

static void test_wild_numbers_and_formats_do_no_harm(void **state)
{
    static const char *const list[] = {
        "os.time({year = 2^53, month = -2^53, day = 1e300})",
        "os.time({year = 0/0, month = 1, day = 1})",
        "os.date('%c', 2^53)",
        "os.date('%c', 1e300)",
        "os.date('%c', 0/0)",
        "os.date('*t', -1e300)",
        "os.date('%999999999d', 0)",
        "os.date('%1000000000c%Ex%Oy%', 0)",
        "os.date(('%+'):rep(400), 0)",
        "math.randomseed(0/0) math.random()",
        "math.random(2^53, 2^53)",
        "select('#', unpack({}, 1, 7000))",
        "select(-1, 1)",
        "tonumber(('9'):rep(1e6))",
        "tonumber(('z'):rep(1e6), 36)",
        "tostring(setmetatable({}, {__tostring = function() return 5 end}))",
        "string.char(unpack({}, 1, 7000))",
        "bit.lshift(2^53, 2^53)",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        char lua[200];
        snprintf(lua, sizeof lua, "pcall(function() return %s end) return 'well'", list[i]);
        if (strncmp(list[i], "math.randomseed", 15) == 0)
            snprintf(lua, sizeof lua, "pcall(function() %s end) return 'well'", list[i]);
        assert_lua(f, lua, "well");
    }
}

/* Lua code sorts plain tables, and LuaJIT's C those with a metatable: equal keys end up in the same order. */
static void test_an_order_function_gives_the_order_of_luajit(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local function fails(t)\n"
               "  local ok, err = pcall(table.sort, t, function() return true end)\n"
               "  return ok and 'ok' or (err:gsub('^.-:%d+: ', ''))\n"
               "end\n"
               "for n = 0, 50 do\n"
               "  local own, stock = {}, setmetatable({}, {})\n"
               "  for i = 1, n do own[i] = i stock[i] = i end\n"
               "  if fails(own) ~= fails(stock) then return n .. fails(own) .. fails(stock) end\n"
               "end\n"
               "return 'same'",
               "same");
}

static void test_a_long_sort_in_the_order_of_lua_is_given_up(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "list = {} for i = 1, 1000000 do list[i] = (i * 7919) % 1000003 end", "nil");
    f->script->limits.values[LIMIT_HANDLER_CPU] = 20;
    assert_raises(f, "table.sort(list)", "snippet.lua:1: over the limit handler-cpu (20ms) in ");
}

/* LuaJIT's parser takes quadratic time for each of these; what ends it is what the call may take. */
static void test_text_that_is_slow_to_compile_is_given_up(void **state)
{
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_HANDLER_CPU] = 100;
    assert_raises(f, "local x = load('local a = b' .. (' or b'):rep(200000))",
                  "snippet.lua:1: over the limit handler-cpu (100ms) in ");
    assert_lua(f, "return load('return 1')()", "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        T(test_they_do_what_lua_does),
        T(test_what_they_make_is_bounded),
        T(test_wild_numbers_and_formats_do_no_harm),
        T(test_an_order_function_gives_the_order_of_luajit),
        T(test_a_long_sort_in_the_order_of_lua_is_given_up),
        T(test_text_that_is_slow_to_compile_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
