/* core/script/vm/absent.c: a method that a class does not have is told by the one that was meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"

static int setup(void **state)
{
    cluster_setup(state);
    struct cluster *c = *state;
    c->script = cluster_load(c, "a",
                             "k8s = require 'k8s' pods = k8s.informer('pods') q = k8s.queue { name = 'q' }\n"
                             "made = { pods = pods, q = q, lister = pods:lister(), query = pods:query(),\n"
                             "  registration = pods:on_add(print), timer = k8s.after('1h', print),\n"
                             "  quantity = k8s.quantity '1', counter = k8s.metric.counter('n_total', 'n'),\n"
                             "  factory = k8s.factory {} }");
    return 0;
}

static const char *error_of(struct cluster *c, const char *lua)
{
    char text[300];
    snprintf(text, sizeof text, "return select(2, pcall(function() %s end))", lua);
    return cluster_ask(c, c->script, text);
}

static void test_the_method_that_was_meant_is_named(void **state)
{
    static const char *const wrong[][2] = {
        {"pods:on_ad(print)", ":1: informer: unknown method \"on_ad\", did you mean \"on_add\"?"},
        {"pods:addEventHandler {}",
         ":1: informer: unknown method \"addEventHandler\", did you mean \"add_event_handler\"?"},
        {"q:enqeuer()", ":1: queue: unknown method \"enqeuer\", did you mean \"enqueuer\"?"},
        {"made.lister:lst()", ":1: lister: unknown method \"lst\", did you mean \"list\"?"},
        {"made.query:wehre()", ":1: query: unknown method \"wehre\", did you mean \"where\"?"},
        {"made.registration:stop()",
         ":1: registration: unknown method \"stop\", known are has_synced, remove"},
        {"made.counter:set(1)", ":1: counter: unknown method \"set\", known are inc, remove"},
        {"made.factory:informr('pods')",
         ":1: factory: unknown method \"informr\", did you mean \"informer\"?"},
        {"pods:ltsier()", ":1: informer: unknown method \"ltsier\", did you mean \"lister\"?"},
        {"local x = pods.on_ad", ":1: informer: unknown method"},
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const char *said = error_of(c, wrong[i][0]);
        if (!strstr(said, wrong[i][1])) fail_msg("%s\n  gave %s", wrong[i][0], said);
    }
}

static void test_what_is_no_name_of_a_method_is_nil(void **state)
{
    struct cluster *c = *state;
    assert_ask(c, c->script, "return tostring(pods[1]) .. tostring(q[true]) .. tostring(made.lister[pods])",
               "nilnilnil");
}

static void test_every_class_with_methods_raises(void **state)
{
    struct cluster *c = *state;
    assert_ask(
        c, c->script,
        "local calm = '' for name, value in pairs(made) do if pcall(function() return value.frobnicate end) "
        "then calm = calm .. name end end return calm",
        "");
}

static void test_a_nearest_name_of_k8s_is_reported(void **state)
{
    static const char *const wrong[][2] = {
        {"k8s.infromer('pods')", "call field 'infromer' (a nil value); if this is a field of k8s: unknown "
                                 "field k8s.infromer, did you mean k8s.informer?"},
        {"k8s.metrics.counter('n', 'n')", "index field 'metrics' (a nil value); if this is a field of k8s: "
                                          "unknown field k8s.metrics, did you mean k8s.metric?"},
        {"k8s.zzz()", "call field 'zzz' (a nil value); if this is a field of k8s: unknown field k8s.zzz"},
    };
    struct cluster *c = *state;
    char text[200];
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        snprintf(text, sizeof text, "local k8s = require 'k8s' %s", wrong[i][0]);
        const char *said = cluster_load_error(c, "x", text);
        if (!strstr(said, wrong[i][1])) fail_msg("%s\n  gave %s", wrong[i][0], said);
    }
    const char *said = cluster_load_error(
        c, "x", "local k8s = require 'k8s' if k8s.rule then error 'is' end local t = {} t.x()");
    assert_null(strstr(said, "k8s.rule")); /* which may be asked */
    said = cluster_load_error(c, "x", "require('k8s').ltsier()");
    assert_null(strstr(said, "did you mean")); /* three letters of six are another word */
    assert_ask(c, c->script, "for i = 1, 1000 do assert(k8s['name' .. i] == nil) end return 'fine'", "fine");
}

static void test_a_file_without_its_first_line_is_told_of_it(void **state)
{
    struct cluster *c = *state;
    const char *said = cluster_load_error(c, "x", "local pods = k8s.informer('pods')");
    if (!strstr(said, "x.lua:1: attempt to index global 'k8s' (a nil value); begin the file by: local k8s = "
                      "require \"k8s\""))
        fail_msg("%s", said);
    assert_null(strstr(cluster_load_error(c, "x", "local pods = k9s.informer('pods')"), "begin the file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, cluster_teardown)
        T(test_the_method_that_was_meant_is_named),
        T(test_what_is_no_name_of_a_method_is_nil),
        T(test_every_class_with_methods_raises),
        T(test_a_nearest_name_of_k8s_is_reported),
        T(test_a_file_without_its_first_line_is_told_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
