/* core/script/handlers/delivery.c: handlers that wait, and what comes for them meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/script/support/cluster.h"
#include "script/handlers/handler.h"

/* Handler "slow" sleeps a second in each call, "quick" does not. */
static const char sleeper[] =
    "k8s = require 'k8s' said = ''\n"
    "function say(...) said = said .. table.concat({...}, ' ') .. '; ' end\n"
    "function take() local text = said said = '' return text end\n"
    "pods = k8s.informer 'pods'\n"
    "local function x(o) return o:label 'x' or '-' end\n"
    "slow = pods:add_event_handler {\n"
    "  id = 'slow',\n"
    "  OnAdd = function(o, ev) k8s.sleep(1) say('add', o:key(), x(o), ev.coalesced and 'c' or '', ev.initial "
    "and 'i' or '') end,\n"
    "  OnUpdate = function(a, b, ev) k8s.sleep(1) say('update', b:key(), x(a), x(b), ev.coalesced and 'c' or "
    "'') end,\n"
    "  OnDelete = function(o, ev) k8s.sleep(1) say('delete', o:key()) end,\n"
    "}\n"
    "quick = pods:add_event_handler {\n"
    "  OnAdd = function(o) say('+' .. o:name()) end, OnUpdate = function(_, o) say('=' .. o:name()) end,\n"
    "  OnDelete = function(o) say('-' .. o:name()) end }\n";

static void test_a_handler_that_waits_receives_the_rest_in_order(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "sleeper", sleeper);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    assert_ask(c, script, "return take()", "+a; +b; "); /* the other handler is not held up */
    assert_true(script_has_synced(script));
    assert_ask(c, script, "return tostring(slow:has_synced()) .. tostring(quick:has_synced())",
               "falsetrue"); /* I-6 */
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=1");
    cluster_event(c, 0, LW_DELETED, "shop/a x=1");
    cluster_event(c, 0, LW_ADDED, "shop/a x=2");
    assert_ask(c, script, "return take()", "=a; -a; +a; ");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", "add shop/a -  i; ");
    assert_ask(c, script, "return tostring(slow:has_synced())", "false");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", "add shop/b -  i; ");
    assert_ask(c, script, "return tostring(slow:has_synced())", "true");
    virtual_clock_advance(&c->clock, 3000);
    assert_ask(c, script, "return take()", "update shop/a - 1 ; delete shop/a; add shop/a 2  ; ");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=9"); /* nothing waits: straight again */
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", "=b; update shop/b - 9 ; ");
    script_free(script);
}

static void test_a_full_pending_list_coalesces_and_stays_bounded(void **state)
{
    struct cluster *c = *state;
    char pod[32];
    struct script *script = cluster_load(c, "sleeper", sleeper);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    for (int i = 1; i <= 3000; i++) {
        snprintf(pod, sizeof pod, "shop/%c x=%d", i % 2 ? 'a' : 'b', i);
        cluster_event(c, 0, LW_MODIFIED, pod);
    }
    cluster_event(c, 0, LW_DELETED, "shop/b x=3000");
    struct script_handler *slow = TAILQ_FIRST(&script->own.handlers->list);
    assert_int_equal(slow->pending.count, 1024); /* as many as the mark, though 3002 came (I-8, B-2) */
    assert_ask(c, script, "take() return ''", "");
    virtual_clock_advance(&c->clock, 1022 * 1000);
    assert_ask(c, script, "local first = take():match '^.-; .-; .-; ' return first",
               "add shop/a -  i; add shop/b -  i; update shop/a - 1 ; ");
    assert_ask(c, script, "return take()", "");
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, script, "return take()", "update shop/a 1019 1021 ; delete shop/b; ");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", "update shop/a 1021 2999 c; ");
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, script, "return take()", "");
    script_free(script);
}

/* A delete of a key that was never seen, and an add that the handler has no function for. */
static void test_what_joins_is_never_an_event_without_a_function(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(
        c, "updates",
        "k8s = require 'k8s' said = ''\n"
        "k8s.informer('pods'):add_event_handler {\n"
        "  OnUpdate = function(_, o) said = said .. '=' .. o:name() .. o:label 'x' k8s.sleep(1) end,\n"
        "  OnDelete = function(o) said = said .. '-' .. o:name() .. o:label 'x' k8s.sleep(1) end }\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a x=1");
    TAILQ_FIRST(&script->own.handlers->list)->pending.mark = 0;
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=2"); /* its call waits */
    cluster_event(c, 0, LW_DELETED, "shop/b x=1");
    cluster_event(c, 0, LW_ADDED, "shop/b x=2");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=3");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=4");
    virtual_clock_advance(&c->clock, 10000);
    assert_ask(c, script, "return said", "=a2-b1=b4");
    script_free(script);
}

/* Calls sleep as many seconds as the label s says; what is going on is told as it begins and ends. */
static const char parallel[] =
    "k8s = require 'k8s' said = '' now = 0\n"
    "function take() local text = said said = '' return text end\n"
    "pods = k8s.informer 'pods'\n"
    "local function work(o, ev)\n"
    "  local me = o:name() .. (o:label 'x' or '') .. (ev.coalesced and 'c' or '')\n"
    "  said = said .. me .. '( ' k8s.sleep(tonumber(o:label 's' or 1)) said = said .. ')' .. me .. ' ' end\n"
    "two = pods:add_event_handler { id = 'two', concurrency = 2, OnAdd = work,\n"
    "  OnUpdate = function(_, o, ev) work(o, ev) end, OnDelete = work }\n";

static void test_calls_of_different_keys_wait_at_once_and_those_of_one_key_never(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "parallel", parallel);
    const struct script_handler *two = TAILQ_FIRST(&script->own.handlers->list);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a s=3;shop/b s=1;shop/c s=1");
    assert_ask(c, script, "return take()", "a( b( ");
    assert_int_equal(two->busy_count, 2);
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=1");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", ")b c( "); /* not a1, though it came before the end of b */
    assert_ask(c, script, "return tostring(two:has_synced())", "false");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", ")c ");
    cluster_event(c, 0, LW_MODIFIED, "shop/d x=1"); /* it is added */
    assert_ask(c, script, "return take()", "d1( "); /* straight, past the a1 that waits */
    cluster_event(c, 0, LW_DELETED, "shop/d x=2");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return tostring(two:has_synced()) .. take()", "true)a )d1 a1( d2( ");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", ")a1 )d2 ");
    assert_int_equal(two->busy_count + two->pending.count, 0);
    assert_null(two->pending.keys);
    script_free(script);
}

static void test_a_busy_key_with_many_changes_delays_no_other(void **state)
{
    struct cluster *c = *state;
    char pod[32];
    struct script *script = cluster_load(c, "parallel", parallel);
    const struct script_handler *two = TAILQ_FIRST(&script->own.handlers->list);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a s=5");
    for (int i = 1; i <= 2000; i++) {
        snprintf(pod, sizeof pod, "shop/a x=%d", i);
        cluster_event(c, 0, LW_MODIFIED, pod);
    }
    assert_int_equal(two->pending.count, 1024); /* the mark: the bound is of all keys together */
    for (int i = 1; i <= 3; i++) cluster_event(c, 0, LW_ADDED, "shop/b");
    assert_ask(c, script, "return take()", "a( b( ");
    assert_int_equal(two->pending.count, 1025); /* one more for each further key: here two adds */
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", ")b bc( ");
    assert_int_equal(two->pending.count, 1024);
    virtual_clock_advance(&c->clock, (5 + 1024) * 1000);
    assert_ask(c, script, "return take():match 'a1023.*a2000.*$'", "a1023( )a1023 a2000c( )a2000c ");
    script_free(script);
}

static void test_removing_a_handler_cancels_all_its_calls(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "parallel", parallel);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
    assert_int_equal(script_pending_events(script), 3);
    assert_ask(c, script, "two:remove()", "nil");
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, script, "return take()", "a( b( ");
    assert_int_equal(script_waiting_calls(script), 0);
    script_free(script);
}

static void test_an_error_after_a_wait_ends_that_call_only(void **state)
{
    struct cluster *c = *state;
    struct script *script =
        cluster_load(c, "failing",
                     "local k8s = require 'k8s' said = ''\n"
                     "k8s.informer('pods'):on_add(function(o)\n"
                     "  k8s.sleep(1)\n"
                     "  if o:name() == 'a' then error 'late' end said = said .. o:name() end)");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, script, "return said", "b");
    assert_int_equal(script_counters(script).errors, 1);
    assert_int_equal(script_counters(script).adds, 2);
    script_free(script);
}

static void test_removing_a_handler_cancels_its_call_unless_it_is_the_caller(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(
        c, "removing",
        "local k8s = require 'k8s' said = '' pods = k8s.informer 'pods'\n"
        "other = pods:on_add(function(o) k8s.sleep(1) said = said .. 'never ' end)\n"
        "self = pods:on_add(function(o) self:remove() k8s.sleep(1) said = said .. 'first ' .. o:name()\n"
        "  k8s.sleep(1) said = said .. ' last' end)\n"
        "late = pods:on_add(function(o) k8s.sleep(1) late:remove() k8s.sleep(1) said = said .. ' late' "
        "end)\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
    assert_ask(c, script, "other:remove()", "nil");
    virtual_clock_advance(&c->clock, 10000);
    assert_ask(c, script, "return said", "first a last late");
    script_free(script);
}

static void test_freeing_a_script_lets_go_of_what_waits(void **state)
{
    struct cluster *c = *state;
    struct script *script = cluster_load(c, "sleeper", sleeper);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b;shop/c");
    cluster_event(c, 0, LW_DELETED, "shop/a");
    script_free(script); /* the cluster looks for references that leaked */
}

/* A handler that adds handlers that add handlers, until the limit; each is told of each object, once. */
static void test_handlers_that_add_handlers_do_not_block_the_loop(void **state)
{
    struct cluster *c = *state;
    enum { OBJECTS = 50, HANDLERS = 1000 };
    struct buf list = {0}, all = {0};
    for (int i = 0; i < OBJECTS; i++) buf_printf(&list, "%sshop/a%d", i ? ";" : "", i);
    buf_printf(&all, "true%d", OBJECTS * HANDLERS);
    struct script *script = cluster_load(
        c, "breeding",
        "local k8s = require 'k8s' n = 0 local pods = k8s.informer 'pods'\n"
        "local function add() n = n + 1 if not pcall(pods.on_add, pods, add) then full = true end end\n"
        "pods:on_add(add)\n");
    cluster_resolve(c);
    cluster_list(c, 0, buf_text(&list)); /* some turns, not enough for all of that */
    assert_ask(c, script, "return tostring(n > 0 and n < 50000)", "true");
    while (shared_factory_process(c->factory)) continue;
    assert_ask(c, script, "return tostring(full) .. n", buf_text(&all));
    script_free(script);
    buf_clear(&list);
    buf_clear(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_a_handler_that_waits_receives_the_rest_in_order),
        T(test_a_full_pending_list_coalesces_and_stays_bounded),
        T(test_what_joins_is_never_an_event_without_a_function),
        T(test_calls_of_different_keys_wait_at_once_and_those_of_one_key_never),
        T(test_a_busy_key_with_many_changes_delays_no_other),
        T(test_removing_a_handler_cancels_all_its_calls),
        T(test_an_error_after_a_wait_ends_that_call_only),
        T(test_removing_a_handler_cancels_its_call_unless_it_is_the_caller),
        T(test_freeing_a_script_lets_go_of_what_waits),
        T(test_handlers_that_add_handlers_do_not_block_the_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
