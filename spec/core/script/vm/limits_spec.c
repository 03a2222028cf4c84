/* core/script/vm/limits.c: the table of limits, as flags and scripts set it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "script/vm/limits.h"
#include "script/work/script_queue.h"

static void assert_refused(const char *assignment, const char *text)
{
    struct limits limits = limits_default;
    struct err err;
    assert_false(limits_set(&limits, assignment, &err));
    assert_string_equal(err.text, text);
    assert_memory_equal(&limits, &limits_default, sizeof limits);
}

static void test_each_limit_is_set_by_its_name(void **state)
{
    struct limits limits = limits_default;
    struct err err;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        char assignment[64];
        snprintf(assignment, sizeof assignment, "%s=7", limit_name((enum limit)i));
        assert_true(limits_set(&limits, assignment, &err));
        assert_int_not_equal(limits.values[i], limits_default.values[i]);
    }
    assert_int_equal(limits.values[LIMIT_HANDLER_CPU], 7000);
    assert_true(limits_set(&limits, "handler-cpu=20ms", &err));
    assert_int_equal(limits.values[LIMIT_HANDLER_CPU], 20);
    assert_true(limits_set(&limits, "script_memory=1Mi", &err));
    assert_int_equal(limits.values[LIMIT_SCRIPT_MEMORY], 1 << 20);
    assert_true(limits_set(&limits, "writes=0", &err));
    assert_int_equal(limits.values[LIMIT_WRITES], 0);
}

static void test_what_is_wrong_is_named(void **state)
{
    assert_refused("handler-cpus=1s", "unknown limit \"handler-cpus\"; did you mean handler-cpu?");
    assert_refused("frobs=1", "unknown limit \"frobs\"");
    assert_refused("handler-cpu", "\"handler-cpu\" is not NAME=VALUE, such as handler-cpu=50ms");
    assert_refused("handler-cpu=fast", "handler-cpu: \"fast\" is not a duration such as 50ms or 1s");
    assert_refused("handler-cpu=0", "handler-cpu: \"0\" is not a duration such as 50ms or 1s");
    assert_refused("script-memory=0", "script-memory: \"0\" is not a size such as 64Mi");
    assert_refused("tasks=1.5", "tasks: \"1.5\" is not a whole number up to 1000000000");
    assert_refused("tasks=-1", "tasks: \"-1\" is not a whole number up to 1000000000");
    assert_refused("tasks=", "tasks: \"\" is not a whole number up to 1000000000");
}

static void assert_shown(enum limit limit, int64_t value, const char *text)
{
    struct buf out = {0};
    limit_describe(limit, value, &out);
    assert_string_equal(buf_text(&out), text);
    buf_clear(&out);
}

static void test_a_value_is_printed_with_its_unit(void **state)
{
    assert_shown(LIMIT_HANDLER_CPU, 50, "50ms");
    assert_shown(LIMIT_MAIN_CPU, 1000, "1s");
    assert_shown(LIMIT_MAIN_CPU, 120000, "2m");
    assert_shown(LIMIT_MAIN_CPU, LIMIT_NONE, "none");
    assert_shown(LIMIT_SCRIPT_MEMORY, 64 << 20, "64Mi");
    assert_shown(LIMIT_TIMERS, 10000, "10000");
    assert_shown(LIMIT_LOG_LINES, 1000, "1000 per second");
    assert_shown(LIMIT_WRITES, 600, "600 per minute");
}

/* --- k8s.limits */

static void test_a_script_lowers_its_own_limits(void **state)
{
    struct cluster *c = *state;
    c->host.limits = &limits_default;
    c->script =
        cluster_load(c, "modest",
                     "require('k8s').limits { handler_cpu = '20ms', [\"script-memory\"] = 16 * 2 ^ 20, "
                     "queue_keys = 10, timers = '5' }");
    assert_int_equal(c->script->limits.values[LIMIT_HANDLER_CPU], 20);
    assert_int_equal(c->script->heap.limit, 16 << 20);
    assert_int_equal(c->script->own.queues->keys.max, 10);
    assert_int_equal(c->script->limits.values[LIMIT_TIMERS], 5);
    assert_non_null(strstr(cluster_ask(c, c->script, "for i = 1, 6 do require('k8s').after('1h', print) end"),
                           "k8s.after: over the limit timers (5)"));
    assert_non_null(strstr(cluster_ask(c, c->script, "require('k8s').limits { timers = 1 }"),
                           "k8s.limits may only be called while the script is loading"));
}

static void test_a_script_cannot_raise_them(void **state)
{
    struct cluster *c = *state;
    c->host.limits = &limits_default;
    static const struct {
        const char *lua, *error;
    } cases[] = {
        {"\nrequire('k8s').limits { handler_cpu = '1s' }",
         ":2: k8s.limits: handler-cpu cannot be raised to 1s: the configured limit is 50ms"},
        {"require('k8s').limits { tasks = 10001 }",
         ":1: k8s.limits: tasks cannot be raised to 10001: the configured limit is 10000"},
        {"require('k8s').limits { script_memory = '1Gi' }",
         ":1: k8s.limits: script-memory cannot be raised to 1Gi: the configured limit is 64Mi"},
        {"require('k8s').limits { handler_cup = 1 }",
         ":1: k8s.limits: unknown limit \"handler_cup\"; did you mean handler-cpu?"},
        {"require('k8s').limits { tasks = {} }",
         ":1: k8s.limits: tasks must be a number or a string such as"},
        {"require('k8s').limits { 7 }", ":1: k8s.limits: names of limits must be strings, not number"},
        {"require('k8s').limits(7)", ":1: k8s.limits: the argument must be a table, not number"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *error = cluster_load_error(c, "greedy", cases[i].lua);
        if (!strstr(error, cases[i].error)) fail_msg("%s", error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_limit_is_set_by_its_name),
        cmocka_unit_test(test_what_is_wrong_is_named),
        cmocka_unit_test(test_a_value_is_printed_with_its_unit),
        cmocka_unit_test_setup_teardown(test_a_script_lowers_its_own_limits, cluster_setup, cluster_teardown),
        cmocka_unit_test_setup_teardown(test_a_script_cannot_raise_them, cluster_setup, cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
