/* core/script/vm/modules.c: what `require` finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "core/script/support/fixture.h"

static void test_modules_lie_beside_the_script_and_are_loaded_once(void **state)
{
    struct fixture *f = *state;
    fixture_write(f, "helper.lua", "count = (count or 0) + 1\nreturn { name = ..., count = count }");
    assert_lua(f, "local h = require 'helper' return h.name .. h.count .. tostring(require 'helper' == h)",
               "helper1true");
    char folder[160];
    snprintf(folder, sizeof folder, "%s/lib", f->folder);
    mkdir(folder, 0777);
    fixture_write(f, "lib/deep.lua", "return 'deep'");
    assert_lua(f, "return require 'lib.deep'", "deep");
    fixture_write(f, "none.lua", "seen = true");
    assert_lua(f, "return require 'none'", "true");
}

static void test_a_missing_module_is_named_with_its_path(void **state)
{
    struct fixture *f = *state;
    char expected[200];
    snprintf(expected, sizeof expected,
             "snippet.lua:1: module 'missing.one' not found: no file %s/missing/one.lua", f->folder);
    assert_raises(f, "require 'missing.one'", expected);
    fixture_write(f, "missing.lua", "return 1");
    assert_lua(f, "return require 'missing'", "1");
    assert_raises(f, "require 'k8s.nothing'", "module 'k8s.nothing' not found");
    assert_raises(f, "require(('a'):rep(200))", "module 'aaa");
    assert_raises(f, "require(('a'):rep(201))", "aaa\" is not a module name");
}

static void test_modules_of_the_operator_come_behind_those_of_the_script(void **state)
{
    struct fixture *f = *state;
    char first[160], second[160], expected[600];
    const char *folders[] = {first, second};
    snprintf(first, sizeof first, "%s/first", f->folder);
    snprintf(second, sizeof second, "%s/second", f->folder);
    mkdir(first, 0777);
    mkdir(second, 0777);
    f->host.lua_path = folders;
    f->host.lua_path_count = 2;
    fixture_write(f, "own.lua", "return 'own'");
    fixture_write(f, "first/own.lua", "return 'hidden'");
    fixture_write(f, "second/shared.lua", "return 'shared'");
    fixture_write(f, "second/cjson.lua", "return 'fake'");
    fixture_write(f, "second/broken.lua", "\nreturn +");
    fixture_write(f, "first/bytes.lua", "\033LJ");
    assert_lua(f, "return require 'own' .. require 'shared' .. type(require 'cjson')", "ownsharedtable");
    snprintf(expected, sizeof expected, "second/broken.lua:2: unexpected symbol");
    assert_raises(f, "require 'broken'", expected);
    assert_raises(f, "require 'bytes'", "is bytecode, not Lua text");
    snprintf(expected, sizeof expected,
             "snippet.lua:1: module 'gone' not found: no file %s/gone.lua, no file %s/gone.lua, no file "
             "%s/gone.lua",
             f->folder, first, second);
    assert_raises(f, "require 'gone'", expected);
    f->host.lua_path_count = 0;
}

static void test_a_module_that_requires_itself_is_reported(void **state)
{
    struct fixture *f = *state;
    fixture_write(f, "a.lua", "local b = require 'b' return b");
    fixture_write(f, "b.lua", "local a = require 'a' return a");
    assert_raises(f, "require 'a'", "b.lua:1: module 'a' requires itself");
}

static void test_a_broken_module_is_reported_with_its_own_line(void **state)
{
    struct fixture *f = *state;
    fixture_write(f, "broken.lua", "\nlocal = 1");
    assert_raises(f, "require 'broken'", "broken.lua:2: ");
    fixture_write(f, "bytes.lua", "\033LJ\002");
    assert_raises(f, "require 'bytes'", "bytes.lua is bytecode, not Lua text");
}

static void test_parts_of_the_api_are_loaded_when_they_are_used(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local k8s = require 'k8s' local before = collectgarbage 'count'\n"
               "assert(k8s.patch == k8s.patch and k8s.patch ~= k8s.update)\n"
               "return collectgarbage 'count' - before > 5",
               "true");
    assert_lua(
        f,
        "local k8s = require 'k8s' return tostring(k8s.patches) .. tostring(k8s['a*']) .. tostring(k8s[1])",
        "nilnilnil");
    assert_lua(f, "require('k8s').patch()",
               "raised: snippet.lua:1: k8s.patch: expected a view or "
               "{ kind, namespace, name }, not nil");
}

static void test_a_walk_over_the_api_shows_what_nobody_has_used(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local k8s, seen = require 'k8s', {}\n"
               "for name, part in pairs(k8s) do seen[#seen + 1] = name assert(k8s[name] == part) end\n"
               "local known = {} for _, name in ipairs(seen) do known[name] = true end\n"
               "return tostring(#seen > 40 and known.watch and known.metric and known.sha256 and known.main)",
               "true");
    assert_lua(f, "return type(next(require 'k8s'))", "string");
}

/* The engine makes it of a number in an object. */
static void test_values_may_come_before_the_functions_that_make_them(void **state)
{
    struct fixture *f = *state;
    fixture_global(
        f, "pod",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"n\":9007199254740993}");
    assert_lua(f, "return tostring(pod.n)", "9007199254740993");
    assert_lua(f, "return tostring(pod.n == require('k8s').int64('9007199254740993'))", "true");
}

static void test_cjson_is_the_library(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "return require('cjson').encode({1, 2})", "[1,2]");
    assert_lua(f, "return require('cjson').decode('{\"a\":null}').a == require('k8s').null", "true");
    assert_lua(f, "return cjson", "nil");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        T(test_modules_lie_beside_the_script_and_are_loaded_once),
        T(test_a_missing_module_is_named_with_its_path),
        T(test_modules_of_the_operator_come_behind_those_of_the_script),
        T(test_a_module_that_requires_itself_is_reported),
        T(test_a_broken_module_is_reported_with_its_own_line),
        T(test_parts_of_the_api_are_loaded_when_they_are_used),
        T(test_a_walk_over_the_api_shows_what_nobody_has_used),
        T(test_values_may_come_before_the_functions_that_make_them),
        T(test_cjson_is_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
