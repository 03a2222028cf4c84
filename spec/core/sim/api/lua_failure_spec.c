/* Mistakes in the simulator's own Lua, which are answered with 500. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/lua/lua.h"

#define MAPS      "/api/v1/namespaces/default/configmaps"
#define INGRESSES "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
#define INGRESS                                                                                   \
    "{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"Ingress\",\"metadata\":{\"name\":\"a\"," \
    "\"annotations\":{\"kubernetes.io/ingress.class\":\"x\"}},\"spec\":{\"defaultBackend\":{"     \
    "\"service\":{\"name\":\"s\",\"port\":{\"number\":80}}}}}"

static struct sim_cluster cluster;

/* In as many states as are kept. */
static void break_function(const char *module, const char *function)
{
    lua_State *all[8];
    char *broken =
        xasprintf("require('%s').%s = function() error 'broken' end return function() end", module, function);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        all[i] = sim_lua_take(module, function);
        lua_settop(all[i], 0);
        assert_int_equal(luaL_dostring(all[i], broken), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(all); i++) assert_null(sim_lua_call(all[i]));
    free(broken);
}

static void assert_fails(const char *call, const char *body)
{
    struct sim_reply reply;
    sim_cluster_call(&cluster, call, "application/json", body, &reply);
    assert_int_equal(reply.code, 500);
    assert_int_equal(json_array_size(reply.warnings), 0);
    assert_null(reply.stream);
    assert_text_at(reply.json, "message",
                   "Internal error occurred: Lua of the simulator failed, as its log says");
    sim_reply_clear(&reply);
}

static void test_a_warning_that_cannot_be_made_is_an_error(void **state)
{
    struct sim_reply reply;
    sim_cluster_init(&cluster, 0);
    sim_cluster_call(&cluster, "POST " INGRESSES "?dryRun=All", "application/json", INGRESS, &reply);
    assert_int_equal(reply.code, 201);
    assert_int_equal(json_array_size(reply.warnings), 1);
    sim_reply_clear(&reply);
    break_function("sim.checks.network", "class_warning");
    assert_fails("POST " INGRESSES, INGRESS);
    sim_cluster_clear(&cluster);
}

static void test_what_cannot_be_read_is_no_bad_request(void **state)
{
    sim_cluster_init(&cluster, 0);
    sim_cluster_make(&cluster, "a");
    sim_cluster_make(&cluster, "b");
    break_function("sim.times", "duration");
    assert_fails("GET " MAPS "?timeout=1s", "");
    break_function("sim.times", "time");
    assert_fails("POST " INGRESSES, "{\"metadata\":{\"creationTimestamp\":\"2026-01-31T12:30:59.5Z\"}}");
    break_function("sim.pages", "read");
    assert_fails("GET " MAPS "?continue=x", "");
    break_function("sim.pages", "token");
    assert_fails("GET " MAPS "?limit=1", "");
    /* The next request has nothing to do with it. */
    json_decref(sim_cluster_json(&cluster, "GET " MAPS "?limit=2", NULL, 200));
    sim_cluster_clear(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_warning_that_cannot_be_made_is_an_error),
                                       cmocka_unit_test(test_what_cannot_be_read_is_no_bad_request)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
