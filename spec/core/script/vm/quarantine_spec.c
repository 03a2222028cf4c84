/* core/script/vm/quarantine.c: who goes over a limit three times running is not called any more, until it is
 * lifted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/mem.h"
#include "base/series/series.h"
#include "core/script/support/cluster.h"
#include "core/script/support/quarantined.h"
#include "script/vm/memory.h"

static void load(struct cluster *c, const char *lua)
{
    c->script = cluster_load(c, "rule", lua);
    c->script->limits.values[LIMIT_HANDLER_CPU] = 5;
    c->script->limits.values[LIMIT_FILTER_CPU] = 2;
}

static void begin(struct cluster *c, const char *lua)
{
    load(c, lua);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a");
}

/* Spins when the label says so. */
static const char rule[] =
    "k8s = require 'k8s' said = {}\n"
    "function take() local text = table.concat(said, ' ') said = {} return text end\n"
    "local function act(o, ev)\n"
    "  said[#said + 1] = o:name() .. (ev.initial and '+' or '')\n"
    "  if o:label 'x' == 'spin' then while true do pcall(error) end end\n"
    "  if o:label 'x' == 'fail' then error 'failed' end\n"
    "end\n"
    "pods = k8s.informer 'pods'\n"
    "pods:add_event_handler { id = 'rule', OnAdd = act, OnUpdate = function(_, new, ev) act(new, ev) end }\n"
    "pods:add_event_handler { id = 'other', OnAdd = print }\n";

static void spin(struct cluster *c, int times)
{
    char object[32];
    for (int i = 0; i < times; i++) {
        snprintf(object, sizeof object, "shop/a x=%s", i % 2 ? "spin" : "spin n=1");
        cluster_event(c, 0, LW_MODIFIED, object);
    }
}

static void test_three_calls_running_over_a_limit_are_enough(void **state)
{
    struct cluster *c = *state;
    begin(c, rule);
    spin(c, 2);
    assert_int_equal(shown_of(c->script).count, 0);
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=fail"); /* within its limits */
    spin(c, 2);
    assert_int_equal(shown_of(c->script).count, 0);
    spin(c, 1);
    struct shown shown = shown_of(c->script);
    assert_int_equal(shown.count, 1);
    assert_string_equal(shown.id, "rule");
    assert_non_null(strstr(shown.why, "rule.lua:5: over the limit handler-cpu (5ms) in the handler rule"));
    assert_series("kubelua_handler_quarantined{script=\"rule\",handler=\"rule\"} 1\n");
    assert_ask(c, c->script, "return take()", "a+ a a a a a a");
}

/* Events that came together: whoever else is told of them does not wait for more than one of its calls. */
static void test_the_others_are_notified_before_it_is_called_again(void **state)
{
    struct cluster *c = *state;
    begin(c, "k8s = require 'k8s' said = '' pods = k8s.informer 'pods'\n"
             "pods:on_update(function() said = said .. 'H' while true do end end)\n"
             "pods:on_update(function() said = said .. 'o' end)\n");
    for (int i = 0; i < 5; i++) {
        char object[32];
        snprintf(object, sizeof object, "shop/a n=%d", i);
        cluster_feed(c, 0, LW_MODIFIED, object);
    }
    cluster_settle(c);
    assert_ask(c, c->script, "return said", "HoooooHH");
    assert_int_equal(shown_of(c->script).skipped, 2);
}

static void test_it_is_not_called_and_what_it_misses_is_counted(void **state)
{
    struct cluster *c = *state;
    begin(c, rule);
    spin(c, 3);
    cluster_ask(c, c->script, "take()");
    cluster_event(c, 0, LW_ADDED, "shop/b");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=good");
    assert_ask(c, c->script, "return take()", "");
    assert_int_equal(shown_of(c->script).skipped, 2);
    assert_series("kubelua_handler_skipped_total{script=\"rule\",handler=\"rule\"} 2\n");
}

static void test_once_lifted_it_is_sent_the_cache(void **state)
{
    struct cluster *c = *state;
    begin(c, rule);
    spin(c, 3);
    cluster_event(c, 0, LW_ADDED, "shop/b");
    cluster_event(c, 0, LW_MODIFIED, "shop/a x=good");
    cluster_ask(c, c->script, "take()");
    assert_int_equal(script_lift(c->script, "other"), 0);
    assert_int_equal(script_lift(c->script, "rule"), 1);
    cluster_settle(c);
    assert_ask(c, c->script, "return take()", "a+ b+");
    assert_int_equal(shown_of(c->script).count, 0);
    assert_series("kubelua_handler_quarantined{script=\"rule\",handler=\"rule\"} 0\n");
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    assert_ask(c, c->script, "return take()", "b");
    spin(c, 3);
    assert_int_equal(shown_of(c->script).count, 1);
}

static void test_a_handler_that_raises_within_its_limits_is_called_for_ever(void **state)
{
    struct cluster *c = *state;
    begin(c, rule);
    for (int i = 0; i < 10; i++)
        cluster_event(c, 0, LW_MODIFIED, i % 2 ? "shop/a x=fail" : "shop/a x=fail n=1");
    assert_int_equal(shown_of(c->script).count, 0);
}

static void test_memory_counts_too(void **state)
{
    struct cluster *c = *state;
    begin(c, "k8s = require 'k8s' k8s.informer('pods'):on_update(function() local t = {} while true do t[#t "
             "+ 1] = "
             "{} end end, { id = 'bomb' })");
    c->script->limits.values[LIMIT_HANDLER_CPU] = 60000;
    c->script->limits.values[LIMIT_SCRIPT_MEMORY] = 4 << 20;
    memory_set_limit(c->script);
    spin(c, 3);
    assert_string_equal(shown_of(c->script).id, "bomb");
    assert_non_null(
        strstr(shown_of(c->script).why, "over the limit script-memory (4Mi) in the handler bomb"));
}

static void test_a_filter_counts_for_its_handler(void **state)
{
    struct cluster *c = *state;
    begin(c,
          "k8s = require 'k8s' k8s.informer('pods'):on_update(print, { id = 'choosy', filter = function(o) "
          "while o:label 'x' do end return false end })");
    spin(c, 3);
    assert_string_equal(shown_of(c->script).id, "choosy");
    assert_non_null(
        strstr(shown_of(c->script).why, "over the limit filter-cpu (2ms) in the filter of choosy"));
}

static void test_a_handler_that_is_removed_gets_no_initial_delivery(void **state)
{
    struct cluster *c = *state;
    begin(c, "k8s = require 'k8s' r = k8s.informer('pods'):on_update(function() while true do end end)");
    spin(c, 3);
    assert_int_equal(shown_of(c->script).count, 1);
    cluster_ask(c, c->script, "r:remove()");
    assert_int_equal(shown_of(c->script).count, 0);
    assert_int_equal(script_lift(c->script, NULL), 0);
}

static void test_a_timer_ticks_on_without_its_function(void **state)
{
    struct cluster *c = *state;
    load(c,
         "k8s = require 'k8s' ticks = 0 k8s.every('1s', function() ticks = ticks + 1 while spin do end end)");
    cluster_ask(c, c->script, "spin = true");
    for (int i = 0; i < 5; i++) virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, c->script, "return ticks", "3");
    assert_non_null(strstr(shown_of(c->script).id, "rule.lua:1"));
    assert_int_equal(shown_of(c->script).skipped, 2);
    cluster_ask(c, c->script, "spin = false");
    script_lift(c->script, NULL);
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, c->script, "return ticks", "4");
}

static void test_keys_of_a_queue_wait(void **state)
{
    struct cluster *c = *state;
    load(c, "k8s = require 'k8s' done = 0 q = k8s.queue { name = 'q', base = '1ms' }\n"
            "q:run(function() while spin do end done = done + 1 end)");
    cluster_ask(c, c->script, "spin = true q:add('a')");
    for (int i = 0; i < 20; i++) virtual_clock_advance(&c->clock, 1000);
    assert_string_equal(shown_of(c->script).id, "queue/q");
    cluster_ask(c, c->script, "spin = false q:add('b')");
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, c->script, "return done", "0");
    script_lift(c->script, "queue/q");
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, c->script, "return done", "2");
}

static unsigned answers[COMMAND_CANCELLED + 1];
static char last_answer[400];

static void on_response(void *ctx, const struct script_command_result *result)
{
    answers[result->end]++;
    snprintf(last_answer, sizeof last_answer, "%.*s", STR_ARG(result->text));
}

static void test_a_command_is_refused(void **state)
{
    struct cluster *c = *state;
    memset(answers, 0, sizeof answers);
    load(c, "k8s = require 'k8s' calls = 0\n"
            "k8s.command('look', function() calls = calls + 1 while spin do end return 'seen' end)\n"
            "k8s.command('other', function() return 'fine' end)");
    cluster_ask(c, c->script, "spin = true");
    for (int i = 0; i < 5; i++) script_call_command(c->script, 0, NULL, 0, on_response, NULL);
    assert_int_equal(answers[COMMAND_FAILED], 5);
    assert_ask(c, c->script, "return calls", "3");
    assert_string_equal(shown_of(c->script).id, "command/look");
    assert_int_equal(shown_of(c->script).skipped, 2);
    assert_non_null(
        strstr(last_answer, "the command is in quarantine after consecutive calls exceeded a limit ("));
    assert_non_null(strstr(last_answer, "rule.lua:2: over the limit handler-cpu (5ms) in the command look)"));
    assert_series("kubelua_handler_quarantined{script=\"rule\",handler=\"command/look\"} 1\n");
    script_call_command(c->script, 1, NULL, 0, on_response, NULL);
    assert_string_equal(last_answer, "fine");
    cluster_ask(c, c->script, "spin = false");
    assert_int_equal(script_lift(c->script, "command/look"), 1);
    script_call_command(c->script, 0, NULL, 0, on_response, NULL);
    assert_string_equal(last_answer, "seen");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name)       cmocka_unit_test_setup_teardown(name, cluster_setup, cluster_teardown)
#define BY_HAND(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_three_calls_running_over_a_limit_are_enough),
        T(test_the_others_are_notified_before_it_is_called_again),
        T(test_it_is_not_called_and_what_it_misses_is_counted),
        T(test_once_lifted_it_is_sent_the_cache),
        T(test_a_handler_that_raises_within_its_limits_is_called_for_ever),
        T(test_memory_counts_too),
        T(test_a_filter_counts_for_its_handler),
        T(test_a_handler_that_is_removed_gets_no_initial_delivery),
        BY_HAND(test_a_timer_ticks_on_without_its_function),
        BY_HAND(test_keys_of_a_queue_wait),
        BY_HAND(test_a_command_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
