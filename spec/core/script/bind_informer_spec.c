/* core/script/bind_informer.c: what a script may ask of an informer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/cluster.h"

struct bench {
    struct cluster c;
    struct script *script;
};

static int setup(void **state)
{
    static struct bench b;
    cluster_init(&b.c);
    *state = &b;
    b.script = cluster_load(&b.c, "watcher", "k8s = require 'k8s'\npods = k8s.informer('pods')\n");
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    script_free(b->script);
    cluster_clear(&b->c);
    return 0;
}

/* B-7 */
static void test_b7_status_is_a_table_that_says_how_it_fares(void **state)
{
    struct bench *b = *state;
    assert_ask(&b->c, b->script, "local s = pods:status() return s.state .. tostring(s.synced) .. s.objects",
               "pendingfalse0");
    assert_ask(&b->c, b->script, "return tostring(pods:status().last_error)", "nil");
    cluster_resolve(&b->c);
    assert_ask(&b->c, b->script, "return pods:status().state", "listing");
    cluster_list(&b->c, 0, "shop/a;shop/b");
    assert_ask(&b->c, b->script, "local s = pods:status() return s.state .. tostring(s.synced) .. s.objects",
               "syncedtrue2");
    assert_ask(&b->c, b->script, "local s = pods:status() return s.resource_version .. ' ' .. type(s.bytes)",
               "3 number");
    assert_ask(&b->c, b->script,
               "local s = pods:status() return s.age >= 0 and s.age < 60 and s.since > 1e9 and s.bytes > 100",
               "true");
}

static void test_status_is_a_method(void **state)
{
    struct bench *b = *state;
    assert_ask(&b->c, b->script, "pods.status()",
               "raised: question.lua:1: informer:status: called on nil, not on an informer (methods are "
               "called with ':')");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_b7_status_is_a_table_that_says_how_it_fares),
        TEST(test_status_is_a_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
