/* core/script/generation/bind_host.c: print, logs and time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "core/script/support/fixture.h"

static int setup(void **state)
{
    fixture_setup(state);
    fixture_global(*state, "obj",
                   "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-1\",\"namespace\":"
                   "\"shop\"},\"a\":{\"b\":[1]}}");
    assert_string_equal(fixture_run(*state, "k8s = require 'k8s'"), "nil");
    return 0;
}

/* What the snippet wrote to the descriptor. */
static const char *written(struct fixture *f, int fd, const char *lua)
{
    static char text[1 << 17];
    char path[128];
    snprintf(path, sizeof path, "%s/out", f->folder);
    fflush(NULL);
    int before = dup(fd), file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    dup2(file, fd);
    const char *result = fixture_run(f, lua);
    dup2(before, fd);
    close(before);
    ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(file);
    if (strncmp(result, "raised", 6) == 0) fail_msg("%s", result);
    return text;
}

static void test_print_writes_a_line_with_everything_as_text(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(written(f, STDOUT_FILENO, "print('a', 1, 1.5, nil, true, k8s.null)"),
                        "a\t1\t1.5\tnil\ttrue\tnull\n");
    assert_string_equal(
        written(f, STDOUT_FILENO, "print(obj, obj.a, k8s.quantity '1Gi', k8s.int64 '9007199254740993')"),
        "Pod shop/web-1\t{\"b\":[1]}\t1Gi\t9007199254740993\n");
    assert_string_equal(written(f, STDOUT_FILENO, "print()"), "\n");
    assert_string_equal(
        written(f, STDOUT_FILENO,
                "print(setmetatable({}, { __tostring = function() print 'in' return 'x' end }))"),
        "in\nx\n");
    assert_string_equal(written(f, STDOUT_FILENO, "local t = tostring(print) print((t:gsub('0x%x+', '')))"),
                        "function: \n");
    assert_raises(f, "print(setmetatable({}, { __tostring = function() return {} end }))",
                  "'__tostring' must return a string");
}

static void test_log_lines_name_script_place_and_sorted_fields(void **state)
{
    struct fixture *f = *state;
    const char *line =
        written(f, STDERR_FILENO,
                "\nk8s.log.info('Hello', { z = 1, a = 'x', b = true, n = 0.5, o = obj, q = k8s.null })");
    assert_true(line[0] == 'I');
    assert_non_null(strstr(line, " snippet.lua:2] \"Hello\" script=\"unit\" a=\"x\" b=true n=0.5 o=\"Pod "
                                 "shop/web-1\" q=\"null\" z=1\n"));
    assert_true(written(f, STDERR_FILENO, "k8s.log.warn 'x'")[0] == 'W');
    assert_true(written(f, STDERR_FILENO, "k8s.log.error 'x'")[0] == 'E');
}

static void test_tables_in_logs_are_json_and_bounded(void **state)
{
    struct fixture *f = *state;
    const char *line =
        written(f, STDERR_FILENO,
                "k8s.log.info('x', { list = { 1, 'a\\nb', false }, map = { b = 0 / 0, a = obj.a }, "
                "codes = { [404] = 2, [true] = 1 / 0, s = print } })");
    assert_non_null(strstr(line, " list=\"[1,\\\"a\\\\nb\\\",false]\" "
                                 "map=\"{\\\"a\\\":{\\\"b\\\":[1]},\\\"b\\\":\\\"(nan)\\\"}\"\n"));
    assert_non_null(strstr(line, " codes=\"{\\\"s\\\":\\\"(function)\\\","));
    assert_non_null(strstr(line, "\\\"404\\\":2"));
    assert_non_null(strstr(line, "\\\"(boolean)\\\":\\\"(inf)\\\""));
    line = written(f, STDERR_FILENO, "k8s.log.info('x', { mixed = { 1, x = 3 } })");
    assert_non_null(strstr(line, " mixed=\"{\\\"x\\\":3,\\\"1\\\":1}\"\n"));
    line =
        written(f, STDERR_FILENO, "k8s.log.info('x', { f = print, e = { message = 'no table of ours' } })");
    assert_non_null(strstr(line, " e=\"{\\\"message\\\":\\\"no table of ours\\\"}\" f=\"function\"\n"));
    line = written(f, STDERR_FILENO, "local t = {} t.a, t.b = t, t k8s.log.info('x', { t = t })");
    assert_true(strlen(line) < 10000);
    assert_string_equal(line + strlen(line) - 5, "...\"\n");
    written(f, STDERR_FILENO,
            "local t = {} for i = 1, 1e5 do t[i] = '\xc3\xa4' end k8s.log.info('x', { t = t }) "
            "size = #k8s.json.encode(t)");
    assert_lua(f, "return size", "500001");
}

static void test_no_name_in_a_log_line_can_be_taken_for_another_field_or_line(void **state)
{
    struct fixture *f = *state;
    const char *line = written(f, STDERR_FILENO, "k8s.log.info('x', { ['a b=\"c\"\\nE1121'] = 1 })");
    assert_non_null(strstr(line, " script=\"unit\" a_b__c__E1121=1\n"));
    line = written(f, STDERR_FILENO, "load(\"require('k8s').log.info('x')\", '@a\\nE1121 b')()");
    assert_non_null(strstr(line, " a_E1121_b:1] \"x\""));
}

static void test_debug_lines_are_written_with_verbosity_four(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(written(f, STDERR_FILENO, "k8s.log.debug 'x'"), "");
    log_setup(LOG_TEXT, 4);
    assert_true(written(f, STDERR_FILENO, "k8s.log.debug 'x'")[0] == 'D');
    log_setup(LOG_TEXT, 0);
}

static void test_a_log_line_is_bounded(void **state)
{
    struct fixture *f = *state;
    const char *line = written(f, STDERR_FILENO, "k8s.log.info('x', { long = ('y'):rep(100000) })");
    assert_in_range(strlen(line), 65536, 66000);
    assert_raises(f, "k8s.log.info(('x'):rep(65537))",
                  "k8s.log: the message is longer than the limit of 64 KiB");
    assert_raises(f, "k8s.log.info('x', { [('x'):rep(257)] = 1 })",
                  "k8s.log: the name of a field is longer than the limit of 256 bytes");
}

static void test_wrong_arguments_of_logs_raise(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "k8s.log.info()", "snippet.lua:1: k8s.log: message must be a string, not nil");
    assert_raises(f, "k8s.log.info('x', 'y')", "snippet.lua:1: k8s.log: fields must be a table, not string");
    assert_raises(f, "k8s.log.info('x', { 1 })",
                  "snippet.lua:1: k8s.log: the names of fields must be strings");
    assert_raises(f, "local t = {} for i = 1, 31 do t['k' .. i] = i end k8s.log.info('x', t)",
                  "more than 30 fields");
}

/* A field's __tostring may take the others out of the table, and have their names collected. */
static void test_the_names_of_fields_outlive_what_tostring_does(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 10; round++) {
        const char *line =
            written(f, STDERR_FILENO,
                    "local t, seen = {}, 0 "
                    "for i = 1, 12 do t[('name' .. i .. math.random(1e9) .. '_'):rep(5)] = i end "
                    "t.hostile = setmetatable({}, { __tostring = function() "
                    "  for k in pairs(t) do if k ~= 'hostile' then t[k] = nil end end "
                    "  for j = 1, 20000 do local _ = ('garbage' .. j):rep(10) end "
                    "  return 'x' "
                    "end }) "
                    "k8s.log.info('x', t)");
        assert_non_null(strstr(line, " hostile=\"x\""));
        assert_null(strstr(line, "garbage"));
    }
}

static void test_now_is_a_fresh_reading_in_seconds(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local a = k8s.now() return a > 1.7e9 and a < 1e11 and k8s.now() >= a and math.abs(a - "
               "os.time()) < 2",
               "true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        T(test_a_log_line_is_bounded),
        T(test_print_writes_a_line_with_everything_as_text),
        T(test_log_lines_name_script_place_and_sorted_fields),
        T(test_tables_in_logs_are_json_and_bounded),
        T(test_no_name_in_a_log_line_can_be_taken_for_another_field_or_line),
        T(test_debug_lines_are_written_with_verbosity_four),
        T(test_wrong_arguments_of_logs_raise),
        T(test_the_names_of_fields_outlive_what_tostring_does),
        T(test_now_is_a_fresh_reading_in_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
