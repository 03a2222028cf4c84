/* core/script/server/bind_kinds.c: kinds that discovery found, on a server played by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "informer/live/live_client.h"
#include "kube/kinds/catalogue.h"
#include "kube/kinds/kinds.h"
#include "script/generation/script.h"

static struct cluster cluster;
static struct virtual_clock vclock; /* of the kinds */
static struct script *script;
static int asked;
static bool done;

static void ask(void *ctx)
{
    asked++;
}

static struct object_call *start_call(void *ctx, const struct object_request *request, object_done *call_done,
                                      void *done_ctx)
{
    fail_msg("k8s.kinds sends nothing of its own");
    return NULL;
}

static void cancel_call(struct object_call *call)
{
    fail_msg("nothing was sent");
}

static int setup(void **state)
{
    cluster_init(&cluster);
    asked = 0;
    virtual_clock_init(&vclock);
    cluster.parts.kinds = kinds_new(&vclock.clock, ask, NULL);
    cluster.parts.live = live_new(&(struct live_options){.engine_loop = cluster.loop,
                                                         .io_loop = cluster.loop,
                                                         .new_source = cluster_new_source,
                                                         .ctx = &cluster,
                                                         .caller = {start_call, cancel_call, NULL}});
    script = NULL;
    return 0;
}

static int teardown(void **state)
{
    if (script) script_free(script);
    cluster_settle(&cluster);
    live_free(cluster.parts.live);
    kinds_free(cluster.parts.kinds);
    virtual_clock_clear(&vclock);
    cluster_clear(&cluster);
    return 0;
}

static void on_main_done(void *ctx, enum script_result result, int exit_code)
{
    assert_int_equal(result, SCRIPT_OK);
    *(bool *)ctx = true;
}

/* Starts a main that tells names of kinds, or the error. */
static void start_main(const char *body)
{
    struct buf lua = {0};
    buf_printf(&lua,
               "local k8s = require 'k8s'\n"
               "local said = {}\n"
               "function told() local text = table.concat(said, ' ') said = {} return text end\n"
               "local function tell(kinds, err)\n"
               "for _, kind in ipairs(kinds or {}) do said[#said + 1] = kind.name end\n"
               "if err then said[#said + 1] = err.reason .. ': ' .. err.message end end\n"
               "k8s.main(function() %s end)\n",
               body);
    done = false;
    script = cluster_load(&cluster, "kinds", buf_text(&lua));
    buf_clear(&lua);
    script_run_main(script, on_main_done, &done);
    cluster_settle(&cluster);
}

static void discover(void)
{
    kinds_set(cluster.parts.kinds, cluster.catalogue);
    cluster_settle(&cluster);
}

#define assert_told(expected) assert_ask(&cluster, script, "return told()", expected)

static void test_kinds_are_filtered_by_group_verb_and_scope(void **state)
{
    discover();
    start_main("tell(k8s.kinds()) tell(k8s.kinds { group = 'apps' }) tell(k8s.kinds { group = '' })\n"
               "tell(k8s.kinds { group = '*', verb = 'create' }) tell(k8s.kinds { namespaced = false })\n"
               "tell(k8s.kinds { namespaced = true, verb = 'watch', group = '*.apps' })");
    assert_true(done);
    assert_told("pods nodes deployments.apps deployments.apps pods nodes nodes deployments.apps");
    assert_int_equal(asked, 0);
}

static void test_a_kind_has_all_that_discovery_says(void **state)
{
    discover();
    start_main("local one = k8s.kinds { group = 'apps' }[1]\n"
               "tell { { name = table.concat({ one.name, one.group, one.version, one.kind, one.plural,\n"
               "tostring(one.namespaced), unpack(one.verbs) }, ',') } }");
    assert_told("deployments.apps,apps,v1,Deployment,deployments,true,get,list,watch");
}

static void test_it_waits_for_the_first_discovery(void **state)
{
    start_main("tell(k8s.kinds { group = 'apps' })");
    assert_false(done);
    discover();
    assert_true(done);
    assert_told("deployments.apps");
}

static void test_it_asks_again_when_discovery_is_older_than_some_seconds(void **state)
{
    discover();
    virtual_clock_advance(&vclock, 6000);
    start_main("tell(k8s.kinds { group = 'apps' })");
    assert_int_equal(asked, 1);
    assert_false(done);
    discover();
    assert_true(done);
    assert_told("deployments.apps");
}

static void test_it_fails_with_discovery(void **state)
{
    struct err err;
    start_main("tell(k8s.kinds())");
    err_set(&err, ERR_CONNECT, "nobody there");
    kinds_fail(cluster.parts.kinds, &err);
    cluster_settle(&cluster);
    assert_true(done);
    assert_told("NotConnected: nobody there");
}

static void test_a_partial_catalogue_is_waited_out(void **state)
{
    start_main("tell(k8s.kinds { group = 'apps' })");
    cluster.catalogue->partial = true;
    discover();
    assert_false(done);
    cluster.catalogue->partial = false;
    discover();
    assert_true(done);
    assert_told("deployments.apps");
}

static void test_groups_that_did_not_respond_are_an_error_beside_the_kinds(void **state)
{
    catalogue_add_failure(cluster.catalogue, "metrics.k8s.io/v1beta1", "down");
    catalogue_finish(cluster.catalogue);
    discover();
    start_main("tell(k8s.kinds { group = 'apps' })");
    assert_told("deployments.apps GroupDiscoveryFailed: unable to retrieve the complete list of server APIs: "
                "metrics.k8s.io/v1beta1: down");
}

static void test_a_wrong_filter_raises(void **state)
{
    discover();
    start_main("for _, filter in ipairs { { verb = 'lst' }, { group = 'a.*' }, { group = '*.*' }, { group = "
               "'*.' },\n"
               "{ gruop = '' }, { namespaced = 1 } } do\n"
               "local ok, why = pcall(k8s.kinds, filter)\n"
               "tell { { name = tostring(ok) .. ' ' .. why:match 'k8s.*' .. '\\n' } } end");
    assert_told(
        "false k8s.kinds: verb must be create, delete, deletecollection, get, list, patch, update or watch, "
        "not "
        "\"lst\"\n false k8s.kinds: group \"a.*\": the only patterns are \"*\", all groups, and \"*.GROUP\", "
        "a group "
        "and those below it\n false k8s.kinds: group \"*.*\": the only patterns are \"*\", all groups, and "
        "\"*.GROUP\", a group and those below it\n false k8s.kinds: group \"*.\": the only patterns are "
        "\"*\", all "
        "groups, and \"*.GROUP\", a group and those below it\n false k8s.kinds: unknown option \"gruop\", "
        "did you "
        "mean \"group\"?\n false k8s.kinds: namespaced must be a boolean, not number\n");
}

static void test_a_script_may_be_freed_while_it_waits(void **state)
{
    start_main("tell(k8s.kinds { group = '*.example.com' })");
    assert_false(done);
    script_free(script);
    script = NULL;
    discover();
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_kinds_are_filtered_by_group_verb_and_scope),
        T(test_a_kind_has_all_that_discovery_says),
        T(test_it_waits_for_the_first_discovery),
        T(test_it_asks_again_when_discovery_is_older_than_some_seconds),
        T(test_it_fails_with_discovery),
        T(test_a_partial_catalogue_is_waited_out),
        T(test_groups_that_did_not_respond_are_an_error_beside_the_kinds),
        T(test_a_wrong_filter_raises),
        T(test_a_script_may_be_freed_while_it_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
