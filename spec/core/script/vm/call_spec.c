/* core/script/vm/call.c: every outcome of a call into Lua is a result, with text, place and traceback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "core/script/support/fixture.h"
#include "script/vm/args.h"
#include "script/vm/call.h"

static void test_an_error_has_text_place_and_traceback(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "local function inner() error('broken') end\nfunction outer()\n  inner()\nend\nouter()",
               "raised: snippet.lua:1: broken");
    struct script_failure *failure = &f->script->failure;
    assert_string_equal(failure->source, "snippet.lua");
    assert_int_equal(failure->line, 1);
    const char *traceback = buf_text(&failure->traceback);
    assert_non_null(strstr(traceback, "snippet.lua:1: in function 'inner'"));
    assert_non_null(strstr(traceback, "snippet.lua:3: in function 'outer'"));
    assert_non_null(strstr(traceback, "snippet.lua:5:"));
}

static void test_a_traceback_begins_with_the_script(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "local k8s = require 'k8s'\nlocal function inner() k8s.queue { nme = 'x' } end\ninner()",
                  "snippet.lua:2: k8s.queue: unknown option \"nme\", did you mean \"name\"?");
    assert_string_equal(buf_text(&f->script->failure.traceback),
                        "snippet.lua:2: in function 'inner'\nsnippet.lua:3: in main chunk");
    assert_raises(f, "string.gsub('x', 'x', function() error('deep', 0) end)", "deep");
    assert_non_null(
        strstr(buf_text(&f->script->failure.traceback), "[C]: in function 'error'\nsnippet.lua:1:"));
}

static void test_misuse_is_reported_with_the_line_of_the_script(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "local k8s = require 'k8s'\n\nk8s.log.info({})",
                  "snippet.lua:3: k8s.log: message must be a string, not table");
    assert_raises(
        f,
        "local k8s = require 'k8s'\nlocal function f()\n  k8s.informer('pods', { nmespace = 'x' })\nend\nf()",
        "snippet.lua:3: k8s.informer: unknown option \"nmespace\", did you mean \"namespace\"?");
}

static void test_any_error_value_becomes_text(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "error('text', 0)", "raised: text");
    assert_lua(f, "error(42, 0)", "raised: 42");
    assert_lua(f, "error({ message = 'of a table', code = 1 })", "raised: of a table");
    assert_lua(f, "error(setmetatable({ message = 'raw' }, { __tostring = function() error('no') end }))",
               "raised: raw");
    assert_lua(f, "error(setmetatable({}, { __tostring = function() return 'made' end }))", "raised: made");
    assert_lua(f, "error(setmetatable({}, { __index = function() error('no') end }))",
               "raised: (error object {})");
    assert_lua(f, "error(setmetatable({}, { __tostring = function() error('no') end }))",
               "raised: (error object cannot be converted to a string)");
    assert_lua(f, "error(setmetatable({}, { __tostring = function() return {} end }))",
               "raised: (error object {})");
    assert_lua(f, "error({ a = 1, b = { true } })", "raised: (error object {\"a\":1,\"b\":[true]})");
    assert_lua(f, "error({ f = print })", "raised: (error object {\"f\":\"(function)\"})");
    assert_lua(f, "error(nil)", "raised: (error object is a nil value)");
    assert_lua(f, "error(print)", "raised: (error object is a function value)");
    assert_lua(f, "error({ message = {} })", "raised: (error object {\"message\":{}})");
}

static void test_a_long_error_is_cut(void **state)
{
    struct fixture *f = *state;
    const char *text = fixture_run(f, "error(('x'):rep(100000), 0)");
    assert_true(strlen(text) < 5000);
}

static void test_endless_recursion_is_an_error_with_a_short_traceback(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "local function f() return 1 + f() end f()", "stack overflow");
    assert_true(f->script->failure.traceback.len < 4000);
    assert_lua(f, "return 'still here'", "still here");
}

static void *refuse(void *ud, void *block, size_t old_size, size_t new_size)
{
    struct script *script = ud;
    if (new_size > 0) return new_size <= old_size ? block : NULL;
    free(block);
    script->memory -= old_size;
    return NULL;
}

static void run_out(lua_State *L, void *ctx)
{
    lua_setallocf(L, refuse, script_of(L));
    lua_newuserdata(L, 1000);
}

static void test_running_out_of_memory_is_a_result_of_its_own(void **state)
{
    struct fixture *f = *state;
    lua_State *L = f->script->L;
    void *ud;
    lua_Alloc allocate = lua_getallocf(L, &ud);
    enum script_result result = script_call(f->script, "a snippet", run_out, NULL);
    lua_setallocf(L, allocate, ud);
    assert_int_equal(result, SCRIPT_MEMORY_LIMIT);
    assert_string_equal(buf_text(&f->script->failure.text), "not enough memory");
    assert_null(f->script->call.absent.root);
    assert_lua(f, "return 1", "1");
}

static void test_nothing_stays_on_the_stack(void **state)
{
    struct fixture *f = *state;
    int top = lua_gettop(f->script->L);
    fixture_run(f, "return 1");
    fixture_run(f, "error('x')");
    fixture_run(f, "error({})");
    fixture_run(f, "error(setmetatable({}, { __tostring = function() error('no') end }))");
    assert_int_equal(lua_gettop(f->script->L), top);
}

/* The text, unless it is NULL, becomes the file of a script that does not load. */
static void assert_refused(struct fixture *f, const char *name, const char *text, enum err_code code,
                           const char *part)
{
    char file[32], path[160];
    struct err err;
    snprintf(file, sizeof file, "%s.lua", name);
    if (text) fixture_write(f, file, text);
    snprintf(path, sizeof path, "%s/%s", f->folder, file);
    assert_null(script_load(&f->host, path, name, &err));
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, part));
}

static void test_a_file_that_cannot_be_loaded_is_reported_with_its_place(void **state)
{
    struct fixture *f = *state;
    struct err err;
    assert_refused(f, "bad", "local x = 1\nlocal = 2\n", ERR_SCRIPT, "bad.lua:2: ");
    assert_refused(f, "raises", "\nerror('at load')\n", ERR_SCRIPT, "raises.lua:2: at load");
    assert_refused(f, "missing", NULL, ERR_IO, "missing.lua: No such file");
    assert_refused(f, "bytes", "\033LJ\002", ERR_SCRIPT, "bytes.lua is bytecode, not Lua text");

    assert_null(script_load(&f->host, f->folder, "folder", &err));
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.text, "is not a regular file"));
}

struct main_end {
    int calls, code;
    enum script_result result;
};

static void on_main_end(void *ctx, enum script_result result, int exit_code)
{
    struct main_end *end = ctx;
    *end = (struct main_end){end->calls + 1, exit_code, result};
}

static void test_main_returns_the_exit_code(void **state)
{
    static const struct {
        const char *lua;
        enum script_result result;
        int code;
    } cases[] = {
        {"require('k8s').main(function() end)", SCRIPT_OK, 0},
        {"require('k8s').main(function() return 7 end)", SCRIPT_OK, 7},
        {"require('k8s').main(function() return true end)", SCRIPT_OK, 0},
        {"require('k8s').main(function() error('x') end)", SCRIPT_ERROR, 0},
        {"require('k8s').main(function() return nil, 'broken' end)", SCRIPT_ERROR, 0},
        {"require('k8s').main(function() return 256 end)", SCRIPT_ERROR, 0},
        {"require('k8s').main(function() return 1.5 end)", SCRIPT_ERROR, 0},
    };
    struct fixture *f = *state;
    char path[160];
    struct err err;
    snprintf(path, sizeof path, "%s/main.lua", f->folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct main_end end = {0, -1, SCRIPT_CANCELLED};
        fixture_write(f, "main.lua", cases[i].lua);
        struct script *script = script_load(&f->host, path, "main", &err);
        assert_non_null(script);
        assert_true(script_has_main(script));
        assert_true(script_has_synced(script));
        script_run_main(script, on_main_end, &end);
        assert_int_equal(end.calls, 1);
        assert_int_equal(end.result, cases[i].result);
        assert_int_equal(end.code, cases[i].code);
        script_free(script);
    }
}

static void test_the_plan_is_made_while_loading_only(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "require('k8s').main(print)",
                  "snippet.lua:1: k8s.main may only be called while the script is loading");
    assert_raises(f, "require('k8s').informer 'pods'",
                  "snippet.lua:1: k8s.informer may not be called in a snippet");
    assert_raises(f, "require('k8s').factory {}",
                  "snippet.lua:1: k8s.factory may only be called while the script is loading");
    assert_refused(f, "twice", "local k8s = require 'k8s'\nk8s.main(print)\nk8s.main(print)\n", ERR_SCRIPT,
                   "twice.lua:3: k8s.main was already called");
}

static void test_each_code_of_an_error_has_a_reason(void **state)
{
    for (int code = 0; code < ERR_CODES; code++)
        assert_non_null(err_reason(&(struct err){.code = (enum err_code)code}));
    assert_string_equal(err_reason(&(struct err){.code = ERR_OUTDATED}), "Conflict");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        T(test_an_error_has_text_place_and_traceback),
        T(test_a_traceback_begins_with_the_script),
        T(test_misuse_is_reported_with_the_line_of_the_script),
        T(test_any_error_value_becomes_text),
        T(test_a_long_error_is_cut),
        T(test_endless_recursion_is_an_error_with_a_short_traceback),
        T(test_running_out_of_memory_is_a_result_of_its_own),
        T(test_nothing_stays_on_the_stack),
        T(test_a_file_that_cannot_be_loaded_is_reported_with_its_place),
        T(test_main_returns_the_exit_code),
        T(test_the_plan_is_made_while_loading_only),
        cmocka_unit_test(test_each_code_of_an_error_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
