/* core/script/lib/sandbox.c: what a script may not do (docs/lua-api.md, What a script cannot do). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <lauxlib.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/script/support/fixture.h"
#include "script/vm/budget.h"

static int setup(void **state)
{
    fixture_setup(state);
    fixture_global(
        *state, "obj",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\"}}");
    return 0;
}

static void test_the_globals_are_those_of_the_list(void **state)
{
    struct fixture *f = *state;
    assert_lua(
        f,
        "obj = nil local names = {} for name in pairs(_G) do names[#names + 1] = name end table.sort(names) "
        "return table.concat(names, ' ')",
        "_G _VERSION assert bit collectgarbage coroutine error getmetatable ipairs load math next os pairs "
        "pcall print "
        "rawequal rawget rawset require select setmetatable string table tonumber tostring type unpack "
        "xpcall");
    assert_lua(f,
               "local names = {} for name in pairs(os) do names[#names + 1] = name end table.sort(names) "
               "return table.concat(names, ' ')",
               "clock date difftime time");
}

static void *burn(void *ctx)
{
    const int64_t till_ns = clock_thread_ns() + 50 * 1000000;
    while (clock_thread_ns() < till_ns) continue;
    return NULL;
}

static void test_os_clock_is_that_of_the_thread(void **state)
{
    struct fixture *f = *state;
    pthread_t other;
    assert_lua(f, "begun = os.clock()", "nil");
    assert_int_equal(pthread_create(&other, NULL, burn, NULL), 0);
    pthread_join(other, NULL);
    assert_lua(f, "return os.clock() - begun < 0.04", "true");
    burn(NULL);
    assert_lua(f, "return os.clock() - begun >= 0.05", "true");
}

/* Each must raise, or give nothing. */
static void test_hostile_snippets_get_nowhere(void **state)
{
    static const char *const hostile[] = {
        "return io.open('/etc/passwd')",
        "return os.execute('true')",
        "return os.getenv('HOME')",
        "return os.remove('/tmp/x')",
        "return require('io')",
        "return require('os').execute",
        "return require('ffi')",
        "local x = 1LL return require('ffi')",
        "local x = 1LL return ffi",
        "return require('jit')",
        "return require('debug')",
        "return require('package')",
        "return require('string.buffer')",
        "return require('table.new')",
        "return package.loaded",
        "return jit.on()",
        "return debug.getregistry()",
        "return loadstring('return 1')",
        "return dofile('/etc/passwd')",
        "return loadfile('/etc/passwd')",
        "return require('../unit')",
        "return require('/etc/passwd')",
        "return require('..unit')",
        "return require('a/b')",
        "return require('')",
        "return require('.')",
        "return require(1)",
        "return require('k8s.informer').claim",
        "return require('k8s.prelude')",
        "return require('k8s.options')",
        "return newproxy(true)",
        "return getfenv(1)",
        "return setfenv(1, {})",
        "return getfenv(print)",
        "return string.dump(function() end)",
        "return (''):dump()",
        "return getmetatable('').__index.x.y",
        "return getmetatable(obj).__index",
        "return getmetatable(obj.metadata).__gc",
        "return getmetatable(print).x",
        "return getmetatable(require('k8s').null).x",
        "return getmetatable(1LL).x",
        "return setmetatable(obj, {})",
        "return getmetatable(select(2, require('k8s').json.decode('{')))",
        "return getmetatable(require('k8s').json.array{})",
        "return getmetatable(require('k8s')).__index",
        "return getmetatable(1LL)",
        "return (1LL).x",
        "return require('k8s').json.encode({1LL})",
        "return obj[1LL]",
        "return require('k8s').int64(1LL)",
        "return require('k8s').list(1LL)",
        "('').rep = nil",
        "(function() end).x = 1",
        "local x = nil x.y = 1",
        "return load('return 1', '=lua/k8s/init.lua', 't', {})() + nil",
        "return rawget(getmetatable(require('k8s').log), 'x')",
        "return setmetatable(require('k8s'), {})",
        "require('k8s').informer = nil",
        "require('k8s').json.encode = nil",
        "rawset(require('k8s'), 'informer', nil)",
        "return collectgarbage()",
        "return collectgarbage('stop')",
        "return collectgarbage('collect')",
        "return module('x')",
        "return load('\\27LJ\\2\\2')()",
        "return load('return 1', 'x', 'b')",
        "return load('return x', 'x', 't', 5)()",
        "return load('return x', 'x', 't', obj)()",
        "return load('return x', 'x', 't', print)()",
        "local n = 0 return load(function() n = n + 1 return n == 1 and '\\27LJ' or nil end)()",
        "return gcinfo()",
        "return obj.get(1, 'metadata')",
        "return obj.get(require('k8s').int64(1), 'metadata')",
        "return obj.get(io, 'metadata')",
        "return obj.diff(obj, require('k8s').quantity '1')",
        "return require('k8s').json.encode(print)",
        "local t = {} t.t = t return require('k8s').json.encode(t)",
        "local t = {} for i = 1, 200 do t = {t} end return require('k8s').json.encode(t)",
        "return require('k8s').json.decode(('['):rep(200) .. (']'):rep(200)).x.y",
        "local function f() return f() + 1 end return f()",
        "local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k] end return t.x",
        "return table.sort({3, 1, 2}, function(a, b) error('stop') end)",
        "coroutine.yield()",
        "error()",
        "error(nil)",
        "return unpack({}, 1, 1e7)",
        "return string.format('%d', obj)",
        "for i = 1, 1e9 do local co = coroutine.wrap(function() error('in') end) co() end",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
        const char *text = fixture_run(f, hostile[i]);
        if (strncmp(text, "raised: ", 8) != 0 && strcmp(text, "nil") != 0)
            fail_msg("%s\n  gave: %s", hostile[i], text);
        assert_lua(f, "return obj.metadata.name", "web-1"); /* the state is as good as before */
    }
}

static void test_tables_have_no_finalizers(void **state)
{
    struct fixture *f = *state;
    assert_lua(
        f,
        "done = 0 local kept = setmetatable({}, { __mode = 'k' }) for i = 1, 1000 do kept[setmetatable({}, { "
        "__gc = function() done = done + 1 end })] = i end",
        "nil");
    lua_gc(f->script->L, LUA_GCCOLLECT, 0);
    lua_gc(f->script->L, LUA_GCCOLLECT, 0);
    assert_lua(f, "return done", "0");
}

/* LuaJIT bounds the depth of Lua's stacks; what these pile up is the C stack. */
static void test_calls_nested_through_c_are_an_error_long_before_the_c_stack_ends(void **state)
{
    static const char *const nested[] = {
        "local function f() return coroutine.wrap(f)() end f()",
        "local function f() local ok, e = coroutine.resume(coroutine.create(f)) error(e, 0) end f()",
        "local function f() return (('x'):gsub('.', f)) end f()",
        "local t = {} setmetatable(t, {__index = function() return (('x'):gsub('.', t)) end}) return t.x",
        "local function f() load(f) end f()",
        "local function f() table.sort({1, 2, 3}, f) end f()",
        "local function f() table.foreach({1}, f) end f()",
        "local t = setmetatable({}, {__tostring = function(t) print(t) end}) print(t)",
        "local t = setmetatable({}, {__tostring = function(t) return ('%s'):format(t) end}) tostring(t)",
        "local t = setmetatable({}, {__index = function(t) return os.time(t) end}) os.time(t)",
        "local log = require('k8s').log.info local t = setmetatable({}, {__tostring = function(t) log('', {t "
        "= "
        "t}) end}) log('', {t = t})",
        /* Who catches it far down piles up the next; not at each level, as each of these is unwound. */
        "local t = setmetatable({}, {__tostring = function(t) return ('%s'):format(t) end}) local n = 0 "
        "local function f() local _, e = pcall(string.gsub, 'x', '.', f) n = n + 1 "
        "error(n <= 2 and tostring(t) or e, 0) end f()",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(nested); i++) {
        const char *text = fixture_run(f, nested[i]);
        if (strncmp(text, "raised: ", 8) != 0 || !strstr(text, "stack overflow"))
            fail_msg("%s\n  gave: %.200s", nested[i], text);
        assert_lua(f, "return obj.metadata.name", "web-1");
    }
}

static void test_changes_of_a_script_to_its_globals_leave_the_api_complete(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local keep = _G for name in pairs(_G) do if name ~= 'tostring' and name ~= 'require' then "
               "keep[name] = nil end end "
               "string = nil",
               "nil");
    assert_lua(f, "return require('k8s').json.encode({a = 1})", "{\"a\":1}");
    assert_raises(f, "require('k8s').informer('pods', { selectr = 'x' })", "did you mean \"selector\"");
}

/* Methods of strings are the script's own table: lua/k8s uses none. */
static void test_changes_of_a_script_to_string_methods_leave_the_api_complete(void **state)
{
    struct fixture *f = *state;
    assert_lua(
        f,
        "for name in pairs(string) do string[name] = function() error('the script\\'s own ' .. name) end end "
        "for name in pairs(table) do table[name] = nil end",
        "nil");
    assert_raises(f, "require('k8s').informer('pods', { selectr = 'x' })", "did you mean \"selector\"");
    assert_lua(f, "return tostring(require('k8s').selects({matchLabels = {a = 'b'}}, {a = 'b'}))", "true");
    assert_lua(f, "local ok, e = require('k8s').selects({matchLabels = {['?'] = 'b'}}, {}) return e.message",
               "selector: the key \"?\" is not valid");
}

static void test_functions_of_strings_can_be_added_as_in_any_lua(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "function string.starts(s, p) return s:sub(1, #p) == p end return ('abc'):starts('ab')",
               "true");
}

static void test_loading_text_works_as_in_lua(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return load('return 1 + 1')()", "2");
    assert_lua(f, "return load('return x', 'name', 't', {x = 5})()", "5");
    assert_lua(
        f, "local p = {'return ', '7'} local i = 0 return load(function() i = i + 1 return p[i] end)()", "7");
    assert_lua(f, "local f, e = load('return +', '=name') return tostring(f) .. e",
               "nilname:1: unexpected symbol near '+'");
    assert_lua(f, "return type(collectgarbage('count'))", "number");
}

static void test_xpcall_passes_the_raised_value_to_its_handler(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local ok, e = xpcall(function() error('x', 0) end, function(e) return e .. '!' end) return "
               "tostring(ok) .. e",
               "falsex!");
    assert_lua(f, "return select('#', xpcall(function(...) return ... end, print, 1, nil, nil))", "4");
}

static void test_the_api_can_be_listed(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "local n = 0 for k, v in pairs(require 'k8s') do n = n + 1 end return n > 5", "true");
    assert_raises(f, "require('k8s').x = 1", "snippet.lua:1: k8s is read-only: x cannot be set");
    assert_lua(f, "return require 'k8s' == require 'k8s'", "true");
    assert_lua(f, "return require 'k8s.json' == require('k8s').json", "true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        T(test_the_globals_are_those_of_the_list),
        T(test_os_clock_is_that_of_the_thread),
        T(test_hostile_snippets_get_nowhere),
        T(test_tables_have_no_finalizers),
        T(test_calls_nested_through_c_are_an_error_long_before_the_c_stack_ends),
        T(test_changes_of_a_script_to_its_globals_leave_the_api_complete),
        T(test_changes_of_a_script_to_string_methods_leave_the_api_complete),
        T(test_functions_of_strings_can_be_added_as_in_any_lua),
        T(test_loading_text_works_as_in_lua),
        T(test_xpcall_passes_the_raised_value_to_its_handler),
        T(test_the_api_can_be_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
