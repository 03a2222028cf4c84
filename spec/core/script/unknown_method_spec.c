/* core/script/unknown_method.c: a method that a class does not have is told by the one that was meant. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, cluster_teardown)
        T(test_the_method_that_was_meant_is_named),
        T(test_what_is_no_name_of_a_method_is_nil),
        T(test_every_class_with_methods_raises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
