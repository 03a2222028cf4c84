/* core/script/caches/running_informer.c, bind_informer.c: informers that a script makes while it runs, stops,
 * or forgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/cluster.h"
#include "kube/kinds/kinds.h"
#include "script/caches/running_informer.h"
#include "script/generation/script.h"

static void ask_nothing(void *ctx) {}

static int setup(void **state)
{
    cluster_setup_by_hand(state);
    struct cluster *c = *state;
    c->parts.kinds = kinds_new(loop_clock(c->loop), ask_nothing, NULL);
    kinds_set(c->parts.kinds, c->catalogue);
    return 0;
}

static int teardown(void **state)
{
    struct cluster *c = *state;
    c->told = NULL;
    if (c->script) script_free(c->script);
    c->script = NULL;
    cluster_settle(c);
    kinds_free(c->parts.kinds);
    return cluster_teardown(state);
}

/* A script whose function `go` runs as a task, at once. */
static struct script *start(struct cluster *c, const char *go)
{
    struct buf lua = {0};
    buf_printf(
        &lua,
        "local k8s = require 'k8s' k8s.reads { 'pods:watch', 'nodes:watch' }\n"
        "said = '' function say(...) for i = 1, select('#', ...) do said = said .. tostring((select(i, "
        "...))) .. ' ' end end\n"
        "k8s.after(0, function() %s end)\n"
        "k8s.after(1, function() if later then later() end end)\n",
        go);
    c->script = cluster_load(c, "running", buf_text(&lua));
    c->told = c->script;
    buf_clear(&lua);
    virtual_clock_advance(&c->clock, 0);
    cluster_settle(c);
    virtual_clock_advance(&c->clock, 0);
    return c->script;
}

static void go_later(struct cluster *c)
{
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    virtual_clock_advance(&c->clock, 0);
}

/* Collects, and gives the script the turn that it asked for. */
static void collect(struct cluster *c)
{
    for (int i = 0; i < 3; i++) lua_gc(c->script->L, LUA_GCCOLLECT, 0);
    virtual_clock_advance(&c->clock, 0);
    cluster_settle(c);
}

static size_t running(const struct script *script)
{
    struct running_informer *informer;
    size_t count = 0;
    TAILQ_FOREACH (informer, &script->own.running->list, link) count++;
    return count;
}

static void test_a_stopped_informer_ends_and_is_freed_once_nothing_reads_it(void **state)
{
    struct cluster *c = *state;
    struct script *script = start(c, "pods = k8s.informer 'pods' lister = pods:lister():namespace 'shop'\n"
                                     "pods:on_add(function(pod) say(pod:name()) end)\n"
                                     "function later() pods:stop() pods = nil end");
    assert_int_equal(script_claim_count(script), 1);
    assert_true(script_claim_is_running(script, 0));
    cluster_list(c, 0, "shop/a");
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, script, "return said", "a ");
    go_later(c);
    assert_true(c->sources[0].freed);
    assert_int_equal(script_claim_count(script), 0);
    collect(c);
    assert_int_equal(running(script), 1); /* the lister */
    assert_ask(c, script, "local n = lister:count() return n",
               "raised: question.lua:1: the informer of pods was stopped");
    assert_ask(c, script, "return tostring(lister)", "lister pods in shop");
    assert_ask(c, script, "lister = nil", "nil");
    collect(c);
    assert_int_equal(running(script), 0);
}

static void test_a_forgotten_informer_ends_by_itself(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        start(c, "local pods = k8s.informer 'pods' pods:add_index('x', function(pod, emit)\n"
                 "emit(pod:name()) end) pods:add_index('y', 'metadata.name')");
    cluster_list(c, 0, "shop/a");
    collect(c);
    assert_true(c->sources[0].freed);
    assert_int_equal(running(script), 0);
    assert_int_equal(script_claim_count(script), 0);
}

static void test_handlers_keep_an_informer_that_the_script_forgot(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        start(c, "registration = k8s.informer('pods'):on_add(function(pod) say(pod:name()) end)\n"
                 "function later() registration:remove() registration = nil end");
    cluster_list(c, 0, "shop/a");
    collect(c);
    cluster_event(c, 0, LW_ADDED, "shop/b");
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, script, "return said", "a b ");
    go_later(c);
    collect(c);
    assert_true(c->sources[0].freed);
    assert_int_equal(running(script), 0);
}

static void test_readers_keep_an_informer_that_the_script_forgot(void **state)
{
    static const char *const readers[] = {"pods:query()", "pods:lister()", "k8s.snapshot(pods):query(pods)"};
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        char go[200];
        snprintf(go, sizeof go, "local pods = k8s.informer 'pods' reader = %s", readers[i]);
        const struct script *script = start(c, go);
        collect(c);
        assert_int_equal(running(script), 1);
        assert_ask(c, c->script, "return reader:count()", "0");
        assert_ask(c, c->script, "reader = nil", "nil");
        collect(c);
        assert_int_equal(running(script), 0);
        c->told = NULL;
        script_free(c->script);
        c->script = NULL;
        cluster_settle(c);
    }
}

static void test_main_and_the_handlers_of_others_do_not_wait_for_it(void **state)
{
    struct cluster *c = *state;
    struct script *script = start(c, "pods = k8s.informer 'pods' pods:on_add(say)");
    assert_true(script_has_synced(script));
    assert_false(c->sources[0].freed);
}

static void test_stopping_ends_waits_with_an_error(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        start(c, "local pods, nodes = k8s.informer 'pods', k8s.informer 'nodes'\n"
                 "k8s.after(0, function() local _, err = nodes:wait_rv('9', '1h') say(err) end)\n"
                 "function later() nodes:stop() pods:stop() end\n"
                 "local _, err = pods:wait_for_sync '1h' say(err.reason, err)");
    cluster_list(c, 1, "n1");
    virtual_clock_advance(&c->clock, 0);
    go_later(c);
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, script, "return said",
               "the informer of nodes was stopped Stopped the informer of pods was stopped ");
    assert_ask(c, script, "later = nil", "nil");
    collect(c);
    assert_int_equal(running(script), 0);
}

/* Made, synced, stopped, stopped with its claim closed, and while it is waited for. */
static void test_a_script_may_end_with_informers_in_any_state(void **state)
{
    static const char *const bodies[] = {
        "pods = k8s.informer 'pods'",
        "pods = k8s.informer 'pods' pods:on_add(say) pods:add_index('x', function() end)",
        "pods = k8s.informer 'pods' pods:stop()",
        "pods = k8s.informer 'pods' lister = pods:lister() pods:stop() k8s.sleep(0.001)",
        "pods = k8s.informer 'pods' pods:wait_for_sync '1h'",
        "pods = k8s.informer 'pods' k8s.after(0, function() pods:wait_rv('99', '1h') end)",
        "for i = 1, 20 do k8s.informer('pods', { selector = 'a=' .. i % 3 }):on_add(say) end",
    };
    struct cluster *c = *state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        size_t first = c->source_count;
        start(c, bodies[i]);
        if (i < 2 || i == 5) cluster_list(c, first, "shop/a");
        virtual_clock_advance(&c->clock, 10);
        c->told = NULL;
        script_free(c->script);
        c->script = NULL;
        cluster_settle(c);
    }
}

static void test_it_counts_for_the_limit(void **state)
{
    struct cluster *c = *state;
    struct limits limits = *c->host.limits;
    limits.values[LIMIT_INFORMERS] = 2;
    c->host.limits = &limits;
    start(c, "one, two = k8s.informer 'pods', k8s.informer 'nodes'\n"
             "say((select(2, pcall(k8s.informer, 'pods')):gsub('^.-: ', '')))\n"
             "one:stop() k8s.sleep(0.001) three = k8s.informer 'pods' say(three)");
    virtual_clock_advance(&c->clock, 10);
    assert_ask(c, c->script, "return said", "k8s.informer: over the limit informers (2) informer pods ");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_stopped_informer_ends_and_is_freed_once_nothing_reads_it),
        T(test_a_forgotten_informer_ends_by_itself),
        T(test_handlers_keep_an_informer_that_the_script_forgot),
        T(test_readers_keep_an_informer_that_the_script_forgot),
        T(test_main_and_the_handlers_of_others_do_not_wait_for_it),
        T(test_stopping_ends_waits_with_an_error),
        T(test_a_script_may_end_with_informers_in_any_state),
        T(test_it_counts_for_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
