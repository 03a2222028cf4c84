/* core/script/caches/bind_wait.c: waiting for caches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/script/support/cluster.h"

static struct script *load(struct cluster *c, const char *lua)
{
    c->told = cluster_load(c, "waiting", lua);
    return c->told;
}

static void end(struct cluster *c)
{
    struct script *script = c->told;
    c->told = NULL;
    script_free(script);
}

/* B-10 */
static void test_wait_rv_ends_when_the_cache_has_the_version(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        load(c, "local k8s = require 'k8s' pods = k8s.informer 'pods' said = ''\n"
                "pods:on_add(function(o) said = said .. o:name() .. ' ' end)\n"
                "k8s.after(1, function() local ok = pods:wait_rv('4', 5) said = said .. tostring(ok) .. ' '\n"
                "  said = said .. tostring(pods:wait_rv '1') end)\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a"); /* version 2 */
    virtual_clock_advance(&c->clock, 1000);
    cluster_event(c, 0, LW_ADDED, "shop/b"); /* 3 */
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, script, "return said", "a b ");
    cluster_event(c, 0, LW_ADDED, "shop/c"); /* 4: handlers are told before who waits goes on (B-10) */
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, script, "return said", "a b c true true");
    end(c);
}

/* One's own write is seen as soon as its namespace has it. */
static void test_wait_rv_of_an_object_requests_its_own_namespace(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(
        c, "local k8s = require 'k8s' said = ''\n"
           "pods = k8s.informer('pods', { namespaces = { 'shop', 'idle' } })\n"
           "k8s.after(1, function() local mine = pods:lister():get 'shop/a'\n"
           "  said = tostring(pods:wait_rv(mine)) .. ' '\n"
           "  local ok, err = pods:wait_rv(mine:resource_version(), 5) said = said .. err.reason end)\n");
    cluster_resolve(c);
    cluster_list(c, 1, "shop/a");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return said", "true ");
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, script, "return said", "true Timeout");
    end(c);
}

static void test_wait_rv_reports_why_not(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        load(c, "local k8s = require 'k8s' pods = k8s.informer 'pods' said = {}\n"
                "local function try(rv, timeout) local ok, err = pods:wait_rv(rv, timeout)\n"
                "  said[#said + 1] = tostring(ok) .. ' ' .. err.reason .. ' ' .. err.message end\n"
                "k8s.after(1, function() try('9', 1) end)\n"
                "k8s.after(2, function() try('9', 5) end)\n"
                "k8s.after(8, function() pods:wait_rv('99', '1h') end)\n");
    virtual_clock_advance(&c->clock, 1000);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
    virtual_clock_advance(&c->clock, 10000);
    assert_ask(c, script, "return (said[1]:match '^nil [^:]*pods')", "nil NotFound pods");
    assert_ask(c, script, "return said[2]",
               "nil Timeout pods: not reached within 5 s, the cache is at version \"2\"");
    assert_ask(c, script, "pods:wait_rv 'x'",
               "raised: question.lua:1: wait_rv: \"x\" is not the version of a list or an object");
    assert_ask(c, script, "local ok = pods:wait_rv('9', -1)",
               "raised: question.lua:1: wait_rv: the timeout must be a number of seconds, or a string such "
               "as \"90s\", \"500ms\" or \"1h30m\", not -1");
    end(c); /* with one that still waits */
}

/* I-19 */
static void test_wait_for_cache_sync_names_each_laggard(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        load(c, "local k8s = require 'k8s' said = {} local f, empty = k8s.factory {}, k8s.factory {}\n"
                "f:informer 'pods' f:informer 'nodes' k8s.informer 'deployments.apps'\n"
                "local function try(timeout) local ok, err = f:wait_for_cache_sync(timeout)\n"
                "  said[#said + 1] = tostring(ok) .. ' ' .. tostring(err) end\n"
                "k8s.after(0, function() try(1) try '1h' try() end)\n"
                "k8s.after(0, function() none = empty:wait_for_cache_sync() end)\n");
    cluster_resolve(c);
    virtual_clock_advance(&c->clock, 0);
    cluster_list(c, 1, "n1");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return tostring(none) .. #said", "true1");
    assert_ask(c, script,
               "return (said[1]:match '^nil not synced within 1 s: pods: listing for [^;]*$') and 'named' or "
               "said[1]",
               "named"); /* I-20, B-7 */
    cluster_list(c, 0, "shop/a");
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, script, "return said[2] .. said[3]", "true niltrue nil");
    end(c);
}

static void test_a_script_that_ends_waits_no_more(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "local k8s = require 'k8s' local f = k8s.factory {} f:informer 'pods'\n"
                                    "k8s.after(0, function() f:wait_for_cache_sync '1h' end)\n");
    cluster_resolve(c);
    virtual_clock_advance(&c->clock, 0);
    assert_int_equal(script->tasks.waiting_count, 1);
    end(c);
    assert_int_equal(c->clock.clock.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_wait_rv_ends_when_the_cache_has_the_version),
        T(test_wait_rv_of_an_object_requests_its_own_namespace),
        T(test_wait_rv_reports_why_not),
        T(test_wait_for_cache_sync_names_each_laggard),
        T(test_a_script_that_ends_waits_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
