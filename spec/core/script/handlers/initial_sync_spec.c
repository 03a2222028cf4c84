/* core/script/handlers/initial_sync.c: handlers and leaders begin when the informers of their script are
 * synced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/err.h"
#include "core/script/support/cluster.h"
#include "script/handlers/initial_sync.h"

#define BEGIN                                                         \
    "local k8s = require 'k8s' said = ''\n"                           \
    "function take() local text = said said = '' return text end\n"   \
    "local pods, nodes = k8s.informer 'pods', k8s.informer 'nodes'\n" \
    "local lister = nodes:lister()\n"                                 \
    "local function say(what) said = said .. what .. lister:count() .. ' ' end\n"

static const char reader[] =
    BEGIN "pods:add_event_handler {\n"
          "  OnAdd = function(o, ev) say((ev.initial and '+' or '') .. o:name()) end,\n"
          "  OnDelete = function(o) say('-' .. o:name()) end }\n";

static void refuse(struct cluster *c, size_t at, int status)
{
    struct cluster_source *source = &c->sources[at];
    struct lw_call *call = source->call;
    struct err err;
    err_set(&err, ERR_HTTP, "no");
    err.http_status = status;
    source->call = NULL;
    source->sink.done(source->ctx, &err);
    free(call);
    cluster_settle(c);
}

static struct buf text;

static const char *describe(bool (*put)(const struct script *, struct buf *), const struct script *script)
{
    text.len = 0;
    put(script, &text);
    return buf_text(&text);
}

/* I-19 */
static void test_a_handler_waits_for_the_other_informers_of_its_script(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "reader", reader);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    cluster_event(c, 0, LW_ADDED, "shop/c");
    cluster_event(c, 0, LW_DELETED, "shop/a");
    assert_ask(c, script, "return take()", "");
    assert_non_null(strstr(describe(initial_sync_describe, script), "nodes: listing for "));
    assert_false(script_has_synced(script));
    cluster_list(c, 1, "n1;n2");
    assert_ask(c, script, "return take()", "+b2 +c2 ");
    assert_true(script_has_synced(script));
    assert_string_equal(describe(initial_sync_describe, script), "");
    cluster_event(c, 0, LW_DELETED, "shop/b");
    assert_ask(c, script, "return take()", "-b2 ");
    script_free(script);
}

static void test_one_with_wait_false_does_not(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "hasty", BEGIN "pods:on_add(function(o) say(o:name()) end, { wait = false })\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    assert_ask(c, script, "return take()", "a0 ");
    assert_string_equal(describe(initial_sync_describe, script), "");
    script_free(script);
}

static void test_an_informer_that_is_forbidden_is_not_waited_for(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "reader", reader);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    refuse(c, 1, 500);
    assert_ask(c, script, "return take()", "");
    for (int i = 0; i < 1000 && !c->sources[1].call; i++) loop_once(c->loop, true);
    refuse(c, 1, 403);
    assert_ask(c, script, "return take()", "+a0 ");
    assert_non_null(strstr(describe(initial_sync_describe_skipped, script), "nodes: forbidden for "));
    for (int i = 0; i < 1000 && !c->sources[1].call; i++) loop_once(c->loop, true);
    cluster_list(c, 1, "n1");
    assert_string_equal(describe(initial_sync_describe_skipped, script), "");
    cluster_event(c, 0, LW_ADDED, "shop/b");
    assert_ask(c, script, "return take()", "b1 ");
    script_free(script);
}

static void unknown(void *ctx, struct informer_claim *claim, const struct err *err)
{
    ++*(int *)ctx;
}

static void test_an_informer_of_an_unknown_kind_is_not_waited_for(void **state)
{
    struct cluster *c = *state;
    int count = 0;
    struct script *script = cluster_load(c, "widgets",
                                         BEGIN "k8s.informer 'widgets.example.com'\n"
                                               "pods:on_add(function(o) say(o:name()) end)\n");
    shared_factory_resolve(c->factory, c->catalogue, unknown, &count);
    cluster_settle(c);
    assert_int_equal(count, 1);
    cluster_list(c, 0, "shop/a");
    cluster_list(c, 1, "n1");
    assert_ask(c, script, "return take()", "a1 ");
    assert_non_null(
        strstr(describe(initial_sync_describe_skipped, script), "widgets.example.com: unknown kind"));
    script_free(script);
}

static void test_a_start_function_of_a_leader_waits_too(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "leader",
                     BEGIN "k8s.on_leader(function() say 'waited' end)\n"
                           "k8s.on_leader(function() say 'hasty' end, nil, { wait = false })\n");
    cluster_resolve(c);
    assert_ask(c, script, "return take()", "hasty0 ");
    cluster_list(c, 0, "");
    assert_ask(c, script, "return take()", "");
    cluster_list(c, 1, "n1");
    assert_ask(c, script, "return take()", "waited1 ");
    script_free(script);
}

static int teardown(void **state)
{
    buf_clear(&text);
    return cluster_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup, teardown)
        T(test_a_handler_waits_for_the_other_informers_of_its_script),
        T(test_one_with_wait_false_does_not),
        T(test_an_informer_that_is_forbidden_is_not_waited_for),
        T(test_an_informer_of_an_unknown_kind_is_not_waited_for),
        T(test_a_start_function_of_a_leader_waits_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
