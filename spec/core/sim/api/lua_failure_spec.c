/* Mistakes in the simulator's own Lua, which are answered with 500. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/lua/lua.h"

#define INGRESSES "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
#define INGRESS                                                                                   \
    "{\"apiVersion\":\"networking.k8s.io/v1\",\"kind\":\"Ingress\",\"metadata\":{\"name\":\"a\"," \
    "\"annotations\":{\"kubernetes.io/ingress.class\":\"x\"}},\"spec\":{\"defaultBackend\":{"     \
    "\"service\":{\"name\":\"s\",\"port\":{\"number\":80}}}}}"

static struct sim_cluster cluster;

/* In as many states as are kept. */
static void break_warning(void)
{
    static const char broken[] =
        "require('sim.checks.network').class_warning = function() error 'broken' end "
        "return function() end";
    lua_State *all[8];
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        all[i] = sim_lua_take("sim.checks.network", "class_warning");
        lua_settop(all[i], 0);
        assert_int_equal(luaL_dostring(all[i], broken), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(all); i++) assert_null(sim_lua_call(all[i]));
}

static void test_a_warning_that_cannot_be_made_is_an_error(void **state)
{
    struct sim_reply reply;
    sim_cluster_init(&cluster, 0);
    sim_cluster_call(&cluster, "POST " INGRESSES "?dryRun=All", "application/json", INGRESS, &reply);
    assert_int_equal(reply.code, 201);
    assert_int_equal(json_array_size(reply.warnings), 1);
    sim_reply_clear(&reply);
    break_warning();
    sim_cluster_call(&cluster, "POST " INGRESSES, "application/json", INGRESS, &reply);
    assert_int_equal(reply.code, 500);
    assert_int_equal(json_array_size(reply.warnings), 0);
    assert_text_at(reply.json, "message",
                   "Internal error occurred: Lua of the simulator failed, as its log says");
    sim_reply_clear(&reply);
    sim_cluster_clear(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_warning_that_cannot_be_made_is_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
