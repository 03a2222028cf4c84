/* core/script/handlers/debounce.c, and what delivery.c makes of it: changes that are told when their object
 * is quiet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/script/support/feed.h"

/* A handler with a debounce of a second and more options; functions for the events that `wants` names. */
static struct script *load(struct cluster *c, const char *wants, const char *options)
{
    char text[1024];
    snprintf(text, sizeof text,
             "k8s = require 'k8s' said = ''\n"
             "function take() local text = said said = '' return text end\n"
             "local function say(what, o, ev)\n"
             "  said = said .. what .. o:name() .. o:resource_version()\n"
             "  for i, name in ipairs { 'coalesced', 'initial', 'resync' } do\n"
             "    if ev[name] then said = said .. name:sub(1, 1) end\n"
             "  end\n"
             "  said = said .. ' ' end\n"
             "local wants, options = '%s', { debounce = '1s', %s }\n"
             "if wants:find '+' then options.OnAdd = function(o, ev) say('+', o, ev) end end\n"
             "if wants:find '=' then options.OnUpdate = function(a, o, ev)\n"
             "  say('=' .. a:resource_version() .. '>', o, ev) end end\n"
             "if wants:find '-' then options.OnDelete = function(o, ev)\n"
             "  say('-' .. (ev.previous and ev.previous:resource_version() .. '>' or ''), o, ev) end end\n"
             "registration = k8s.informer('pods'):add_event_handler(options)\n",
             wants, options);
    return cluster_load(c, "debounce", text);
}

/* `what` with 'i' or 'r' behind it: of the first list, a resync. */
static void tell(struct cluster *c, struct script *script, const char *what, const char *name, int version)
{
    const struct event_info info = {.initial = what[1] == 'i', .resync = what[1] == 'r'};
    struct root *before = feed_pod(c, name, version - !info.resync, 1),
                *object = feed_pod(c, name, version, 1);
    feed(feed_handler(script), what[0], before, object, &info);
    root_unref(before);
    root_unref(object);
}

static void test_a_change_is_delivered_when_its_object_is_quiet(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "+=-", "");
    tell(c, script, "=", "a", 2);
    virtual_clock_advance(&c->clock, 500);
    tell(c, script, "+", "b", 3);
    virtual_clock_advance(&c->clock, 499);
    tell(c, script, "=", "a", 4);
    virtual_clock_advance(&c->clock, 500);
    assert_ask(c, script, "return take()", "");
    virtual_clock_advance(&c->clock, 1);
    assert_ask(c, script, "return take()", "+b3 ");
    virtual_clock_advance(&c->clock, 498);
    assert_ask(c, script, "return take()", "");
    virtual_clock_advance(&c->clock, 1);
    assert_ask(c, script, "return take()", "=1>a4c ");
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, script, "return take()", "");
    assert_null(feed_handler(script)->debounce->windows);
    script_free(script);
}

static void test_an_object_that_never_rests_is_delivered_all_the_same(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "+=-", "");
    for (int i = 1; i <= 250; i++) { /* each 100 ms, from 0 on */
        tell(c, script, "=", "a", i);
        if (i == 40) tell(c, script, "=", "b", 7);
        virtual_clock_advance(&c->clock, 100);
    }
    assert_ask(c, script, "return take()", "=6>b7 =0>a100c =100>a200c "); /* ten times the second */
    virtual_clock_advance(&c->clock, 900);
    assert_ask(c, script, "return take()", "=200>a250c ");
    script_free(script);
}

static void test_a_delete_is_delivered_at_once_and_takes_what_waits_with_it(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "+=-", "");
    tell(c, script, "=", "a", 2);
    tell(c, script, "-", "a", 3);
    assert_ask(c, script, "return take()", "-1>a3c "); /* it has not heard of 2 */
    tell(c, script, "+", "a", 4);                      /* it comes back */
    tell(c, script, "=", "a", 5);
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", "+a5c ");
    tell(c, script, "-", "a", 6);
    assert_ask(c, script, "return take()", "-5>a6 ");
    tell(c, script, "+", "b", 7); /* came and went: nobody has heard of it */
    tell(c, script, "=", "b", 8);
    tell(c, script, "-", "b", 9);
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, script, "return take()", "");
    assert_int_equal(feed_handler(script)->debounce->count, 0);
    script_free(script);
}

static void test_the_first_list_and_resyncs_are_delivered_at_once(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "+=-", "");
    tell(c, script, "+i", "a", 1);
    tell(c, script, "+i", "b", 1);
    assert_ask(c, script, "return take()", "+a1i +b1i ");
    tell(c, script, "=", "a", 2);
    tell(c, script, "=r", "a", 2); /* what waits tells the same */
    tell(c, script, "=r", "b", 1);
    assert_ask(c, script, "return take()", "=1>b1r ");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return take()", "=1>a2 ");
    tell(c, script, "=", "a", 3);
    tell(c, script, "+i", "a", 4); /* it is shown the cache again */
    assert_ask(c, script, "return take()", "+a4i ");
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, script, "return take()", "");
    script_free(script);
}

static void test_what_it_has_no_function_for_counts_for_what_waits(void **state)
{
    struct cluster *c = *state;
    struct script *adds = load(c, "+", ""), *updates = load(c, "=", "");
    tell(c, adds, "+", "a", 1);
    tell(c, adds, "=", "b", 9); /* nothing waits: nothing to do */
    tell(c, adds, "-", "c", 9);
    assert_int_equal(feed_handler(adds)->debounce->count, 1);
    virtual_clock_advance(&c->clock, 900);
    tell(c, adds, "=", "a", 2);
    virtual_clock_advance(&c->clock, 900);
    assert_ask(c, adds, "return take()", "");
    virtual_clock_advance(&c->clock, 100);
    assert_ask(c, adds, "return take()", "+a2c ");
    tell(c, adds, "+", "d", 3);
    tell(c, adds, "-", "d", 4);
    tell(c, updates, "+", "a", 1);
    tell(c, updates, "=", "a", 2);
    tell(c, updates, "-", "a", 3);
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, adds, "return take()", "");
    assert_ask(c, updates, "return take()", "");
    script_free(adds);
    script_free(updates);
}

static void test_many_that_are_quiet_at_once_come_in_turns(void **state)
{
    struct cluster *c = *state;
    enum { PODS = 5000 };
    char name[16];
    struct script *script = load(c, "=", "");
    for (int i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "p%d", i);
        tell(c, script, "=", name, 2);
    }
    assert_int_equal(feed_handler(script)->debounce->count, PODS);
    assert_int_equal(script_pending_events(script), PODS);
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, script, "return select(2, said:gsub('=', ''))", "5000");
    assert_ask(c, script, "return take():sub(1, 24)", "=1>p02 =1>p12 =1>p22 =1>");
    assert_int_equal(script_pending_events(script), 0);
    script_free(script);
}

static void test_removing_and_freeing_let_go_of_what_waits(void **state)
{
    struct cluster *c = *state;
    struct script *script = load(c, "=", "");
    tell(c, script, "=", "a", 2);
    assert_ask(c, script, "registration:remove()", "nil");
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, script, "return take()", "");
    script_free(script);
    script = load(c, "=", "concurrency = 2");
    tell(c, script, "=", "a", 2);
    script_stop(script);
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, script, "return take()", "");
    assert_int_equal(script_pending_events(script), 1); /* not told, and counted */
    script_free(script);
} /* the cluster looks for references that leaked */

static void test_its_length_is_checked(void **state)
{
    struct cluster *c = *state;
    static const char *const bad[][2] = {
        {"0", "on_add: debounce must be between 10ms and 1h, not 0 s"},
        {"'5ms'", "on_add: debounce must be between 10ms and 1h, not 0.005 s"},
        {"'2h'", "on_add: debounce must be between 10ms and 1h, not 7200 s"},
        {"'soon'", "on_add: debounce must be a number of seconds, or a string such as \"90s\", \"500ms\" or "
                   "\"1h30m\", not \"soon\""},
        {"true", "on_add: debounce must be a duration, not boolean"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "require('k8s').informer('pods'):on_add(print, { debounce = %s })",
                 bad[i][0]);
        assert_non_null(strstr(cluster_load_error(c, "bad", text), bad[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_a_change_is_delivered_when_its_object_is_quiet),
        T(test_an_object_that_never_rests_is_delivered_all_the_same),
        T(test_a_delete_is_delivered_at_once_and_takes_what_waits_with_it),
        T(test_the_first_list_and_resyncs_are_delivered_at_once),
        T(test_what_it_has_no_function_for_counts_for_what_waits),
        T(test_many_that_are_quiet_at_once_come_in_turns),
        T(test_removing_and_freeing_let_go_of_what_waits),
        T(test_its_length_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
