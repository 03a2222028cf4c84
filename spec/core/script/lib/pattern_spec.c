/* core/script/pattern, string_find, string_gsub: what differs from Lua's own: nothing takes long, and errors
 * name the line of the script. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/script/support/fixture.h"

enum { HASTE_MS = 20 };

/* Each keeps Lua's own matcher busy for minutes, or for ever. */
static void test_a_pattern_that_would_match_for_ever_ends_with_an_error(void **state)
{
    static const char *const hostile[] = {
        "local _ = ('a'):rep(100000):find('.-.-.-.-.-.-b')",
        "local _ = ('a'):rep(100000):match(('.-'):rep(50) .. 'b')",
        "local _ = ('a'):rep(40):match(('a*'):rep(40) .. 'b')",
        "local _ = ('a'):rep(40):match(('a?'):rep(40) .. ('a'):rep(40) .. 'b')",
        "for _ in ('a'):rep(100000):gmatch('.-.-.-b') do end",
        "local _ = ('a'):rep(100000):gsub('(.-)(.-)(.-)%1%2%3b', '')",
        "local _ = ('a'):rep(1000000):find('[' .. ('b'):rep(100000) .. ']c')",
        "local _ = ('a'):rep(1000000):find(('%f[' .. ('b'):rep(1000) .. 'a]a'):rep(5))",
        "local _ = ('('):rep(2000000):find('%b()')",
        "local _ = (('x'):rep(300000)):find('(' .. ('x'):rep(1000) .. '*)%1%1y')",
    };
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_HANDLER_CPU] = HASTE_MS;
    for (size_t i = 0; i < ARRAY_LEN(hostile); i++)
        assert_raises(f, hostile[i], "snippet.lua:1: over the limit handler-cpu (20ms) in ");
}

static void test_no_pcall_goes_on_with_another_pattern(void **state)
{
    struct fixture *f = *state;
    f->script->limits.values[LIMIT_HANDLER_CPU] = HASTE_MS;
    assert_raises(f, "while true do\npcall(string.match, ('a'):rep(100000), '.-.-.-.-b')\nend",
                  "snippet.lua:2: over the limit handler-cpu (20ms) in ");
    assert_lua(f, "return ('a'):find('a')", "1");
}

static void test_what_is_long_but_simple_is_done(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "local s = ('a'):rep(8e6) return #s:match('^%w+$') + s:find('$') + #s:gsub('a', 'b')",
               "24000001");
    assert_lua(f, "local s = ('ab'):rep(4e6) local n = 0 for _ in s:gmatch('b') do n = n + 1 end return n",
               "4000000");
    assert_lua(f, "local s = ('a'):rep(8e6) .. 'b' return s:find(('a'):rep(4e6) .. 'b', 1, true)", "4000001");
    assert_lua(f, "return #('a'):rep(8e6):match('[%w_%-%.]+')", "8000000");
}

static void test_a_result_longer_than_value_size_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "local s = ('a'):rep(1e4) return #s:gsub('a', s)",
                  "snippet.lua:1: string.gsub: over the limit value-size (16Mi)");
    assert_raises(f, "local s = ('a'):rep(1e4) return #s:gsub('a', function() return s end)", "value-size");
    assert_raises(f, "local s = ('a'):rep(1e4) return #s:gsub('(a)', { a = s })", "value-size");
    assert_raises(f, "local s = ('a'):rep(1e4) return #s:gsub('()', ('%0'):rep(1e4) .. s)", "value-size");
}

static void test_errors_name_the_line_of_the_script(void **state)
{
    static const struct {
        const char *lua, *error;
    } list[] = {
        {"\nlocal _ = ('x'):find('%')", "snippet.lua:2: malformed pattern (ends with '%')"},
        {"\nlocal _ = ('x'):match('[')", "snippet.lua:2: malformed pattern (missing ']')"},
        {"\nlocal _ = ('x'):gsub('%f', '')", "snippet.lua:2: missing '[' after '%f' in pattern"},
        {"\nlocal _ = ('x'):gmatch('x)')()", "snippet.lua:2: invalid pattern capture"},
        {"\nlocal _ = ('x'):gsub('x', '%2')", "snippet.lua:2: invalid capture index"},
        {"\nlocal _ = ('x'):gsub('x', function() return {} end)",
         "snippet.lua:2: invalid replacement value (a table)"},
        {"\nlocal _ = ('x'):gsub('x', print, 'y')",
         "snippet.lua:2: bad argument #3 to 'gsub' (number expected, got string)"},
        {"\nlocal _ = string.gsub('x', 'x')",
         "snippet.lua:2: bad argument #3 to 'gsub' (string/function/table expected)"},
        {"\nlocal _ = string.find(nil, 'x')",
         "snippet.lua:2: bad argument #1 to 'find' (string expected, got nil)"},
        {"\nlocal _ = string.match('x')",
         "snippet.lua:2: bad argument #2 to 'match' (string expected, got no value)"},
        {"\nlocal _ = ('x'):find(('('):rep(33))", "snippet.lua:2: too many captures"},
        {"\nlocal _ = ('x'):rep(300):find(('x?'):rep(250))", "snippet.lua:2: pattern too complex"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(list); i++) assert_raises(f, list[i].lua, list[i].error);
}

static void test_callbacks_may_use_patterns_and_raise(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return (('a-b'):gsub('%w', function(c) return (c:gsub('.', '%0%0')) end))", "aa-bb");
    assert_raises(f, "return ('x'):gsub('x', function() error('mine', 0) end)", "mine");
    assert_lua(f,
               "local out = {} for i = 1, 1000 do out[i] = ('ab'):gsub('.', function(c) "
               "collectgarbage('count') return "
               "c .. i end) end return out[1000]",
               "a1000b1000");
    assert_lua(f, "local g = ('xy'):rep(10):gmatch('.') local a = g() return a .. g()", "xy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        T(test_a_pattern_that_would_match_for_ever_ends_with_an_error),
        T(test_no_pcall_goes_on_with_another_pattern),
        T(test_what_is_long_but_simple_is_done),
        T(test_a_result_longer_than_value_size_is_refused),
        T(test_errors_name_the_line_of_the_script),
        T(test_callbacks_may_use_patterns_and_raise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
