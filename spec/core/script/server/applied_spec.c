/* core/script/server/applied.c: applies that change nothing do not count. */
#include "script/server/applied.h"

#include "base/mem.h"
#include "core/script/support/patient.h"
#include "core/script/support/writes.h"

static struct limits limits;

/* One write, and another one each 30 seconds. */
static int setup(void **state)
{
    writes_setup(state);
    limits = patient_limits;
    limits.values[LIMIT_WRITES] = 2;
    bench.cluster.host.limits = &limits;
    return 0;
}

static void answer(const char *version)
{
    struct buf json = {0};
    buf_printf(
        &json,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"shop\",\"name\":\"web\","
        "\"resourceVersion\":\"%s\"}}",
        version);
    writes_answer(buf_text(&json));
    buf_clear(&json);
}

static void assert_next_waits(void)
{
    assert_null(bench.call);
    writes_advance(30000);
    assert_non_null(bench.call);
}

static void test_the_version_of_the_last_apply_is_that_of_nothing_changed(void **state)
{
    writes_discover();
    writes_start("for i = 1, 7 do k8s.apply(pod, { spec = {} }, { dry_run = i > 5 }) end");
    answer("8");
    assert_next_waits();
    answer("8");
    assert_non_null(bench.call);
    answer("9");
    assert_next_waits();
    answer("9");
    assert_non_null(bench.call);
    writes_refuse(409, "Conflict");
    assert_next_waits();
    answer("9"); /* of what is tried it says nothing */
    assert_next_waits();
    answer("9");
}

static void test_the_version_in_a_cache_is_too(void **state)
{
    bench.script =
        cluster_load(&bench.cluster, "cached",
                     "local k8s = require 'k8s'\n"
                     "pods = k8s.informer 'pods'\n"
                     "k8s.writes { 'pods:apply' }\n"
                     "k8s.main(function() for i = 1, 3 do\n"
                     "k8s.apply({ kind = 'pods', namespace = 'shop', name = 'web' }, {}) end end)\n");
    cluster_resolve(&bench.cluster);
    writes_discover();
    cluster_list(&bench.cluster, 0, "shop/web app=web");
    writes_run_main(bench.script);
    writes_advance(0);
    assert_non_null(bench.call);
    answer(
        cluster_ask(&bench.cluster, bench.script, "return pods:lister():get('shop/web'):resource_version()"));
    assert_non_null(bench.call);
    answer("77");
    assert_next_waits();
    answer("77");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, writes_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_the_version_of_the_last_apply_is_that_of_nothing_changed),
        T(test_the_version_in_a_cache_is_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
