/* core/base/cli/flags.c: command lines, the environment, durations and sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cli/flags.h"

static const char *name, *format;
static bool all;
static int level, runs;
static double rate;
static int64_t timeout_ms;
static size_t limit;
static struct flag_list files, rest;
static struct err err;

static const struct flag table[] = {
    {"namespace", 'n', FLAG_STRING, &name, "NAME", NULL, ""},
    {"all-namespaces", 'A', FLAG_BOOL, &all, NULL, NULL, ""},
    {"v", 'v', FLAG_INT, &level, "N", NULL, ""},
    {"runs", 0, FLAG_COUNT, &runs, "N", NULL, ""},
    {"kube-api-qps", 0, FLAG_NUMBER, &rate, "N", NULL, ""},
    {"sync-timeout", 0, FLAG_DURATION_MS, &timeout_ms, "DURATION", NULL, ""},
    {"max-object-size", 0, FLAG_SIZE, &limit, "SIZE", NULL, ""},
    {"log-format", 0, FLAG_CHOICE, &format, "text|json", "text|json", ""},
    {"filename", 'f', FLAG_LIST, &files, "FILE", NULL, ""},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static bool parse(int argc, char **argv)
{
    const struct flag *tables[] = {table, NULL};
    return flags_parse(tables, argc, argv, &rest, NULL, &err);
}
#define PARSE(...)                                                            \
    parse((int)(sizeof((const char *[]){"x", __VA_ARGS__}) / sizeof(char *)), \
          (char **)(const char *[]){"x", __VA_ARGS__})

static int reset(void **state)
{
    name = format = NULL;
    all = false;
    level = 0;
    timeout_ms = 0;
    limit = 0;
    flag_list_clear(&files);
    flag_list_clear(&rest);
    return 0;
}

static void test_every_form_of_a_flag_is_taken(void **state)
{
    assert_true(PARSE("-n", "shop", "--v=3", "--sync-timeout", "1h30m", "--max-object-size=64Mi",
                      "--log-format", "json", "-f", "a.lua", "-fb.lua", "--all-namespaces", "other"));
    assert_string_equal(name, "shop");
    assert_int_equal(level, 3);
    assert_int_equal(timeout_ms, 5400000);
    assert_int_equal(limit, 64 << 20);
    assert_string_equal(format, "json");
    assert_true(all);
    assert_int_equal(files.count, 2);
    assert_string_equal(files.items[1], "b.lua");
    assert_int_equal(rest.count, 1);
    assert_string_equal(rest.items[0], "other");
}

static void test_a_boolean_may_be_switched_off(void **state)
{
    all = true;
    assert_true(PARSE("-A", "--all-namespaces=false"));
    assert_false(all);
}

static void test_an_unknown_flag_names_the_nearest(void **state)
{
    assert_false(PARSE("--namespaces", "x"));
    assert_string_equal(err.text, "unknown flag --namespaces; did you mean --namespace?");
    assert_false(PARSE("--frobnicate"));
    assert_string_equal(err.text, "unknown flag --frobnicate");
    assert_false(PARSE("--nmaespace"));
    assert_string_equal(err.text, "unknown flag --nmaespace; did you mean --namespace?");
    assert_false(PARSE("--nominate"));
    assert_string_equal(err.text, "unknown flag --nominate");
    assert_false(PARSE("--w"));
    assert_string_equal(err.text, "unknown flag --w");
    assert_false(PARSE("-z"));
    assert_string_equal(err.text, "unknown flag -z");
}

static void test_a_bad_value_names_flag_value_and_form(void **state)
{
    assert_false(PARSE("--log-format", "xml"));
    assert_string_equal(err.text, "--log-format: \"xml\" is not text|json");
    assert_false(PARSE("--sync-timeout=soon"));
    assert_string_equal(err.text, "--sync-timeout: \"soon\" is not a duration such as 90s, 500ms or 1h30m");
    assert_false(PARSE("-v", "-1"));
    assert_string_equal(err.text, "-v/--v must be 0 or more, not -1");
    static const char *const numbers[] = {"", "-1", "1e3", "nan", "inf", "0x1", "1.2.3", ".", "5/s"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_false(PARSE("--kube-api-qps", numbers[i]));
    assert_string_equal(err.text, "--kube-api-qps: \"5/s\" is not a number");
    assert_true(PARSE("--kube-api-qps", "0.5"));
    assert_true(rate == 0.5);
}

static void test_a_value_that_is_too_large_names_the_most(void **state)
{
    assert_true(PARSE("-v", "2147483647", "--kube-api-qps", "999999999", "--sync-timeout", "277777777h",
                      "--max-object-size", "1000000G"));
    assert_false(PARSE("-v", "2147483648"));
    assert_string_equal(err.text, "-v/--v: 2147483648 is too large, the maximum is 2147483647");
    assert_false(PARSE("--v=99999999999999999999999"));
    assert_string_equal(err.text, "--v: 99999999999999999999999 is too large, the maximum is 2147483647");
    assert_false(PARSE("--kube-api-qps", "1000000000.5"));
    assert_string_equal(err.text, "--kube-api-qps: 1000000000.5 is too large, the maximum is 999999999");
    assert_false(PARSE("--sync-timeout", "277777778h5m"));
    assert_string_equal(err.text, "--sync-timeout: 277777778h5m is too large, the maximum is 277777777h");
    assert_false(PARSE("--max-object-size", "1000001G"));
    assert_string_equal(err.text, "--max-object-size: 1000001G is too large, the maximum is 1000000G");
    assert_false(PARSE("--max-object-size", "1000001X"));
    assert_string_equal(err.text, "--max-object-size: \"1000001X\" is not a size such as 64Mi");
    assert_false(PARSE("-v", "99999999999x"));
    assert_string_equal(err.text, "-v/--v: \"99999999999x\" is not a whole number");
}

static void test_a_count_is_at_least_one(void **state)
{
    assert_true(PARSE("--runs", "1"));
    assert_int_equal(runs, 1);
    static const char *const none[] = {"0", "00", "-1"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_false(PARSE("--runs", none[i]));
        assert_non_null(strstr(err.text, "--runs must be 1 or more, not "));
    }
    assert_false(PARSE("--runs", "2147483648"));
    assert_string_equal(err.text, "--runs: 2147483648 is too large, the maximum is 2147483647");
    assert_false(PARSE("--runs", ""));
    assert_string_equal(err.text, "--runs: \"\" is not a whole number");
}

/* The error is told in the format of the log, wherever on the line that stands. */
static void test_what_follows_a_wrong_flag_is_set_all_the_same(void **state)
{
    format = "text";
    assert_false(PARSE("--frobnicate", "-v", "-1", "--log-format", "json"));
    assert_string_equal(err.text, "unknown flag --frobnicate");
    assert_string_equal(format, "json");
}

static void test_a_missing_value_is_named(void **state)
{
    assert_false(PARSE("--namespace"));
    assert_string_equal(err.text, "--namespace needs NAME");
}

static void test_the_environment_sets_flags_and_the_line_beats_it(void **state)
{
    setenv("KUBELUA_LOG_FORMAT", "json", 1);
    setenv("KUBELUA_NAMESPACE", "env", 1);
    assert_true(PARSE("-n", "line"));
    assert_string_equal(format, "json");
    assert_string_equal(name, "line");
    setenv("KUBELUA_LOG_FORMAT", "xml", 1);
    assert_false(PARSE("other"));
    assert_string_equal(err.text, "KUBELUA_LOG_FORMAT: \"xml\" is not text|json");
    unsetenv("KUBELUA_LOG_FORMAT");
    unsetenv("KUBELUA_NAMESPACE");
}

/* The kubelet sets KUBELUA_PORT=tcp://10.0.0.7:80 for a Service that is called kubelua. */
static void test_what_the_kubelet_sets_for_a_service_is_no_flag(void **state)
{
    static const char *const links[] = {"tcp://10.0.0.7:80", "udp://[fd00::1]:53", "sctp://10.0.0.7:1"};
    int port = 7;
    const struct flag sim[] = {{"port", 0, FLAG_INT, &port, "N", NULL, "a port"},
                               {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL}};
    const struct flag *const sims[] = {sim, NULL};
    char program[] = "kubelua";
    char *words[] = {program, NULL};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        setenv("KUBELUA_PORT", links[i], 1);
        assert_true(flags_parse(sims, 1, words, &rest, NULL, &err));
        assert_int_equal(port, 7);
    }
    setenv("KUBELUA_PORT", "http://x", 1);
    assert_false(flags_parse(sims, 1, words, &rest, NULL, &err));
    assert_string_equal(err.text, "KUBELUA_PORT: \"http://x\" is not a whole number");
    unsetenv("KUBELUA_PORT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_form_of_a_flag_is_taken, reset, reset),
        cmocka_unit_test_setup_teardown(test_a_boolean_may_be_switched_off, reset, reset),
        cmocka_unit_test_setup_teardown(test_an_unknown_flag_names_the_nearest, reset, reset),
        cmocka_unit_test_setup_teardown(test_a_bad_value_names_flag_value_and_form, reset, reset),
        cmocka_unit_test_setup_teardown(test_a_value_that_is_too_large_names_the_most, reset, reset),
        cmocka_unit_test_setup_teardown(test_a_count_is_at_least_one, reset, reset),
        cmocka_unit_test_setup_teardown(test_what_follows_a_wrong_flag_is_set_all_the_same, reset, reset),
        cmocka_unit_test_setup_teardown(test_a_missing_value_is_named, reset, reset),
        cmocka_unit_test_setup_teardown(test_what_the_kubelet_sets_for_a_service_is_no_flag, reset, reset),
        cmocka_unit_test_setup_teardown(test_the_environment_sets_flags_and_the_line_beats_it, reset, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
