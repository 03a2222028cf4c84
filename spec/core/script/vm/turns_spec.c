/* core/script/vm/turns.c: what scripts do in one turn of the loop, and who comes first in the next. Time goes
 * by in compute(ms) only, so that each clock_fire below is one turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/must.h"
#include "base/time/piece_meter.h"
#include "core/script/support/cluster.h"
#include "script/vm/call.h"

static struct virtual_clock *script_time;

static int l_compute(lua_State *L)
{
    script_time->now += lua_tointeger(L, 1);
    return 0;
}

static void set_compute(lua_State *L, void *ctx)
{
    lua_pushcfunction(L, l_compute);
    lua_setglobal(L, "compute");
}

/* The script has queue(name, count, ms): a queue with so many keys, which take so long and say its name. */
static struct script *load(struct cluster *c, const char *name, const char *lua)
{
    char text[2000];
    snprintf(text, sizeof text,
             "k8s = require 'k8s' said = ''\n"
             "function say(text) said = said .. text end\n"
             "function take() local text = said said = '' return text end\n"
             "function queue(name, count, ms)\n"
             "  local q = k8s.queue { name = name, qps = 0, workers = 100 }\n"
             "  for i = 1, count do q:add('k' .. i) end\n"
             "  q:run(function() compute(ms) say(name) end)\n"
             "end\n%s",
             lua);
    struct script *script = cluster_load(c, name, text);
    script_time = &c->clock;
    must(script_call(script, "a spec", set_compute, NULL) == SCRIPT_OK);
    return script;
}

static void turn(struct cluster *c)
{
    clock_fire(&c->clock.clock);
}

static void test_a_slice_ends_after_10_ms_and_the_next_begins_where_it_ended(void **state)
{
    struct cluster *c = *state;
    c->script = load(c, "queues", "queue('a', 99, 60) queue('b', 99, 20) queue('c', 99, 1) queue('d', 2, 1)");
    turn(c);
    assert_ask(c, c->script, "return take()", "a"); /* one call is what a slice may take beyond */
    turn(c);
    assert_ask(c, c->script, "return take()", "b");
    turn(c);
    assert_ask(c, c->script, "return #take()", "10");
    turn(c);
    assert_ask(c, c->script, "return take()", "dda");
    turn(c);
    assert_ask(c, c->script, "return take()", "b");
}

static void test_timers_come_between(void **state)
{
    struct cluster *c = *state;
    c->script = load(c, "timer", "queue('q', 6, 30) k8s.every('50ms', function() say '!' end)");
    for (int i = 0; i < 6; i++) turn(c);
    assert_ask(c, c->script, "return take()", "qq!qq!q!q");
}

static void test_scripts_take_turns(void **state)
{
    struct cluster *c = *state;
    struct script *other = load(c, "other", "queue('o', 2, 10)");
    c->script = load(c, "busy", "queue('b', 9, 60)");
    struct script *third = load(c, "third", "queue('t', 9, 60)");
    turn(c);
    assert_ask(c, other, "return take()", "o");
    assert_ask(c, c->script, "return take()", "b");
    assert_ask(c, third, "return take()", "");
    turn(c);
    assert_ask(c, other, "return take()", "");
    assert_ask(c, c->script, "return take()", "");
    assert_ask(c, third, "return take()", "t");
    turn(c);
    assert_ask(c, other, "return take()", "o"); /* it has used the least */
    assert_ask(c, c->script, "return take()", "b");
    assert_ask(c, third, "return take()", "");
    script_free(third); /* it waits for its turn */
    turn(c);
    assert_ask(c, c->script, "return take()", "b");
    script_free(other);
}

/* As with a raised limit: what it used is forgiven, but for some slices. */
static void test_a_script_does_not_wait_for_long_after_a_long_call(void **state)
{
    struct cluster *c = *state;
    c->script = load(c, "long", "queue('l', 9, 5000)");
    struct script *other = load(c, "other", "queue('o', 99, 10)");
    turn(c);
    assert_ask(c, c->script, "return take()", "l");
    for (int i = 0; i < 12; i++) turn(c);
    assert_ask(c, c->script, "return take():sub(1, 1)", "l");
    assert_ask(c, other, "return tostring(#take() >= 10)", "true");
    script_free(other);
}

/* Of each 10 ms the one uses all and the other nothing: a tick comes after one of the other's. */
/* It has used less than the other, and would be the first again. */
static void test_a_brief_script_has_one_slice_in_a_turn(void **state)
{
    struct cluster *c = *state;
    struct piece_meter meter = {0};
    struct script *other = load(c, "other", "queue('o', 9, 60)"), *brief;
    c->script = other;
    brief = load(c, "brief", "queue('b', 9, 11)");
    brief->brief = &meter;
    turn(c);
    assert_ask(c, other, "return take()", "o");
    assert_ask(c, brief, "return take()", "");
    turn(c);
    assert_ask(c, brief, "return take()", "b");
    assert_ask(c, other, "return take()", "o");
    assert_in_range(meter.pieces, 1, 100);
    brief->brief = NULL;
    script_free(brief);
}

static void test_many_timers_of_one_script_do_not_delay_another(void **state)
{
    struct cluster *c = *state;
    c->script = load(c, "many", "for i = 1, 60 do k8s.every('1s', function() compute(10) say 'm' end) end");
    struct script *other = load(c, "other",
                                "k8s.every('10ms', function() worst = math.max(worst or 0, k8s.now() - "
                                "(last or k8s.now())) last = k8s.now() say '.' end)");
    c->clock.now = 1000;
    for (int i = 0; i < 70; i++) turn(c);
    assert_ask(c, c->script, "return #take()", "60");
    assert_ask(c, other, "return tostring(#take() >= 59) .. (' %.3f'):format(worst)", "true 0.010");
    script_free(other);
}

/* All of them have more than there is time for. */
static void test_woken_calls_waiting_events_and_keys_take_turns(void **state)
{
    struct cluster *c = *state;
    c->script = load(c, "parts",
                     "k8s.informer('pods'):on_add(function(pod)\n"
                     "  if pod:name() == 'first' then k8s.sleep '1s' return end\n"
                     "  compute(60) say 'e'\n"
                     "end)\n"
                     "sleeping = k8s.queue { name = 's', workers = 9, qps = 0 }\n"
                     "sleeping:run(function() k8s.sleep '1s' compute(60) say 'w' end)\n"
                     "for i = 1, 4 do sleeping:add('k' .. i) end\n"
                     "keys = k8s.queue { name = 'q', qps = 0 }\n"
                     "keys:run(function() compute(60) say 'q' end)\n");
    c->told = c->script;
    cluster_resolve(c);
    cluster_list(c, 0, "shop/first;shop/a;shop/b;shop/c;shop/d");
    turn(c);
    c->clock.now = 1000;
    turn(c);
    assert_ask(c, c->script, "for i = 1, 4 do keys:add('k' .. i) end return take()", "");
    for (int i = 0; i < 12; i++) turn(c);
    assert_ask(c, c->script, "return take()", "weqweqweqweq");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_a_slice_ends_after_10_ms_and_the_next_begins_where_it_ended),
        T(test_timers_come_between),
        T(test_scripts_take_turns),
        T(test_a_script_does_not_wait_for_long_after_a_long_call),
        T(test_a_brief_script_has_one_slice_in_a_turn),
        T(test_many_timers_of_one_script_do_not_delay_another),
        T(test_woken_calls_waiting_events_and_keys_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
