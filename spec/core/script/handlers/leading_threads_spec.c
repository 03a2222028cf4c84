/* core/script/handlers/leading.c, bind_leader.c, core/informer/leader/leadership.c: what a script does as a
 * leader, with its candidate on a thread of its own (L-4, L-8). Meant to run under ThreadSanitizer too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/script/support/election.h"
#include "script/generation/handover.h"
#include "script/handlers/handler.h"
#include "script/handlers/leading.h"
#include "script/vm/task.h"

static const char script_text[] =
    "k8s = require 'k8s'\n"
    "said = {}\n"
    "function say(...) said[#said + 1] = table.concat({...}, ' ') end\n"
    "function take() local text = table.concat(said, '; ') said = {} return text end\n"
    "function now() return table.concat(said, '; ') end\n"
    "k8s.leader { duration = 1, renew = 0.9, retry = 0.01 }\n"
    "pods = k8s.informer 'pods'\n"
    "pods:on_add(function(o) all = (all or 0) + 1 end)\n"
    "registration = pods:add_event_handler { leader = true,\n"
    "  OnAdd = function(o, ev) say('add', o:key() .. (ev.initial and '+' or '')) end,\n"
    "  OnUpdate = function(old, new) say('update', new:key()) end,\n"
    "  OnDelete = function(o) say('delete', o:key()) end }\n";

static int setup(void **state)
{
    cluster_setup(state);
    election_open(*state);
    return 0;
}

static int teardown(void **state)
{
    struct cluster *c = *state;
    if (c->script) script_free(c->script);
    c->script = NULL;
    election_close(c);
    return cluster_teardown(state);
}

static void start(struct cluster *c, const char *more)
{
    struct buf text = {0};
    buf_printf(&text, "%s%s", script_text, more);
    c->script = cluster_load(c, "leading", buf_text(&text));
    buf_clear(&text);
    election_start(c);
}

static void start_with_pods(struct cluster *c, const char *more)
{
    start(c, more);
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
}

#define await_leader(c, yes) await_ask(c, "return k8s.is_leader()", (yes) ? "true" : "false")

static void test_a_leaders_handler_gets_the_cache_at_each_win(void **state)
{
    struct cluster *c = *state;
    election_set(ELECTION_TAKEN);
    start_with_pods(c, "");
    await_ask(c, "return all", "2"); /* the others are told on all processes */
    cluster_event(c, 0, LW_ADDED, "shop/c");
    await_ask(c, "return all", "3");
    assert_true(script_has_synced(c->script)); /* it waits for nothing */
    assert_ask(c, c->script, "return take() .. tostring(registration:has_synced())", "false");
    election_set(ELECTION_GRANTS);
    await_ask(c, "return now()", "add shop/a+; add shop/b+; add shop/c+");
    assert_ask(c, c->script, "take() return registration:has_synced()", "true");
    cluster_event(c, 0, LW_MODIFIED, "shop/b");
    cluster_event(c, 0, LW_DELETED, "shop/a");
    await_ask(c, "return now()", "update shop/b; delete shop/a");
    election_set(ELECTION_TAKEN);
    await_told(c, false);
    cluster_event(c, 0, LW_ADDED, "shop/d");
    await_ask(c, "return all", "4");
    assert_ask(c, c->script, "return take()", "update shop/b; delete shop/a");
    election_set(ELECTION_GRANTS);
    await_ask(c, "return now()", "add shop/b+; add shop/c+; add shop/d+");
}

/* A generation that came while another process led: it has not seen the cache, whatever is replayed. */
static void test_a_reload_before_the_win_takes_nothing_from_it(void **state)
{
    struct cluster *c = *state;
    char path[96];
    struct err err;
    struct handover done;
    election_set(ELECTION_TAKEN);
    start_with_pods(c, "");
    await_ask(c, "return all", "2");
    snprintf(path, sizeof path, "%s/next.lua", c->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%sk8s.on_reload { replay = 'none' }\n", script_text);
    fclose(file);
    struct script *old = c->script;
    const struct script_source source = {.path = path, .name = "leading", .generation = 2, .before = old};
    c->script = script_prepare(&c->host, &source, &err);
    assert_non_null(c->script);
    cluster_resolve(c);
    assert_true(script_handover(old, c->script, &done, &err));
    script_free(old);
    election_set(ELECTION_GRANTS);
    await_ask(c, "return now()", "add shop/a+; add shop/b+");
}

static void test_calls_that_wait_are_cancelled_at_a_loss(void **state)
{
    struct cluster *c = *state;
    start_with_pods(c,
                    "pods:on_add(function(o) say 'wait' k8s.sleep(3600) say 'never' end, { leader = true })\n"
                    "pods:on_add(function(o) k8s.sleep(3600) end)\n"
                    "k8s.every('10ms', function() ticks = (ticks or 0) + 1 k8s.sleep(3600) end, "
                    "{ leader = true })\n");
    await_ask(c, "return ticks", "1");
    await_ask(c, "return #said", "3"); /* two adds, and one that waits; the other is in its list */
    assert_int_equal(script_waiting_calls(c->script), 3);
    election_set(ELECTION_TAKEN);
    await_told(c, false);
    assert_int_equal(script_waiting_calls(c->script), 1);
    assert_ask(c, c->script, "take() return ticks", "1");
    election_set(ELECTION_GRANTS);
    await_ask(c, "return ticks", "2");
    await_ask(c, "return #said", "3");
}

static void test_timers_of_leaders_tick_on_the_leader_only(void **state)
{
    struct cluster *c = *state;
    election_set(ELECTION_TAKEN);
    start(c, "a, b, once = 0, 0, 0\n"
             "k8s.every('10ms', function() a = a + 1 end, { leader = true })\n"
             "k8s.every('10ms', function() b = b + 1 end)\n"
             "timer = k8s.after('10ms', function() once = once + 1 end, { leader = true })\n");
    await_ask(c, "return b > 5", "true");
    assert_ask(c, c->script, "return a + once", "0");
    assert_ask(c, c->script, "return timer:cancel()", "false"); /* it fell due on another's watch */
    election_set(ELECTION_GRANTS);
    await_ask(c, "return a > 5", "true");
    election_set(ELECTION_TAKEN);
    await_told(c, false);
    assert_ask(c, c->script, "a, b = 0, 0", "nil");
    await_ask(c, "return b > 5", "true");
    assert_ask(c, c->script, "return a + once", "0");
}

/* L-4: a stop for each start, and none without one. */
static void test_functions_are_notified_of_wins_and_losses(void **state)
{
    struct cluster *c = *state;
    election_set(ELECTION_TAKEN);
    start(
        c,
        "k8s.on_leader(function() say('start', tostring(k8s.is_leader())) k8s.sleep(3600) say 'never' end,\n"
        "  function() say('stop', tostring(k8s.is_leader())) k8s.sleep(0) say 'stopped' end)\n"
        "k8s.on_leader(function() error 'oops' end)\n");
    cluster_resolve(c);
    cluster_list(c, 0, "");
    await_ask(c, "return k8s.is_leader()", "false");
    election_set(ELECTION_GRANTS);
    await_ask(c, "return now()", "start true");
    assert_int_equal(script_counters(c->script).errors, 1);
    election_set(ELECTION_TAKEN);
    await_ask(c, "return now()", "start true; stop false; stopped");
    election_set(ELECTION_GRANTS);
    await_ask(c, "return now()", "start true; stop false; stopped; start true");
    assert_string_equal(election_holder(), "me");
    script_stop(c->script);
    script_step_down(c->script);
    assert_ask(c, c->script, "take() return k8s.is_leader()", "false");
    election_release(c); /* L-8 */
    assert_string_equal(election_holder(), "");
}

/* Leadership ended, and then the engine's end began. */
static void test_a_stop_lets_functions_for_the_end_of_leadership_wait(void **state)
{
    struct cluster *c = *state;
    start(c, "k8s.on_leader(function() say 'start' end,\n"
             "  function() say 'stop' k8s.sleep(0.02) k8s.sleep(0.02) say 'stopped' end)\n"
             "k8s.after(0, function() k8s.sleep(3600) say 'never' end)\n");
    cluster_resolve(c);
    cluster_list(c, 0, "");
    await_ask(c, "return now()", "start");
    election_set(ELECTION_TAKEN);
    await_ask(c, "return now()", "start; stop");
    assert_int_equal(script_waiting_calls(c->script), 2);
    assert_int_equal(script_stop(c->script), 1);
    script_step_down(c->script);
    assert_int_equal(script_stepping_down(c->script), 1);
    await_ask(c, "return now()", "start; stop; stopped");
    assert_int_equal(script_stepping_down(c->script), 0);
}

/* The engine thread knows the end of the lease by itself. */
static void test_it_does_not_lead_beyond_its_lease_though_the_io_thread_stands_still(void **state)
{
    struct cluster *c = *state;
    /* The lease may end while a tick runs that began in time: one tick, and none after it. */
    start_with_pods(c, "local late = false\n"
                       "k8s.every('10ms', function()\n"
                       "  if late and not k8s.is_leader() then say 'ticked' end\n"
                       "  late = not k8s.is_leader()\n"
                       "end, { leader = true })\n");
    await_ask(c, "return now()", "add shop/a+; add shop/b+");
    election_hold_io(c, true);
    int64_t end = clock_now_ms(clock_real()) + 1000;
    await_leader(c, false);
    assert_true(clock_now_ms(clock_real()) <= end + 1000); /* a busy machine is late */
    await_ask(c, "time = time or k8s.now() return k8s.now() - time > 0.05", "true"); /* some ticks */
    cluster_event(c, 0, LW_ADDED, "shop/c"); /* not told of the loss yet, it is told nothing of this */
    assert_ask(c, c->script, "return take()", "add shop/a+; add shop/b+");
    election_hold_io(c, false);
    await_ask(c, "return now()", "add shop/a+; add shop/b+; add shop/c+");
}

static void test_l11_a_lease_that_nobody_renews_is_unhealthy(void **state)
{
    struct cluster *c = *state;
    struct buf reason = {0};
    start(c, "");
    await_leader(c, true);
    leaders_check(c->parts.leaders, 0, &reason);
    assert_int_equal(reason.len, 0);
    election_hold_io(c, true); /* it thinks that it leads, and nobody tells it otherwise */
    await_leader(c, false);
    await_ask(c, "time = time or k8s.now() return k8s.now() - time > 1.1", "true");
    leaders_check(c->parts.leaders, 60000, &reason);
    assert_int_equal(reason.len, 0);
    leaders_check(c->parts.leaders, 0, &reason);
    assert_non_null(strstr(buf_text(&reason), "lease ops/kubelua has not been renewed for "));
    election_hold_io(c, false);
    buf_clear(&reason);
}

/* A script that never comes back does not lose the lease (is_leader is asked of what the other thread knows).
 */
static void test_a_busy_script_keeps_the_lease(void **state)
{
    struct cluster *c = *state;
    start(c, "");
    await_leader(c, true);
    assert_ask(c, c->script,
               "local t, ok = k8s.now(), true while k8s.now() - t < 2.5 do ok = ok and k8s.is_leader() end "
               "return ok",
               "true");
    await_leader(c, true);
}

static void test_only_a_leaders_work_is_fenced(void **state)
{
    struct cluster *c = *state;
    start_with_pods(c, "");
    await_ask(c, "return #said", "2");
    struct fence *fence = leading_fence(c->script);
    assert_true(fence_is_open(fence));
    assert_null(task_fence(c->script));
    election_set(ELECTION_TAKEN);
    fence_ref(fence);
    await_told(c, false);
    assert_false(fence_is_open(fence));
    assert_null(leading_fence(c->script));
    fence_unref(fence);
}

static void test_without_an_election_a_script_leads(void **state)
{
    struct cluster *c = *state;
    c->script = cluster_load(c, "alone",
                             "k8s = require 'k8s' said = 0 function add() said = said + 1 end\n"
                             "k8s.on_leader(add) k8s.after(0, add, { leader = true })\n"
                             "k8s.informer('pods'):on_add(add, { leader = true })\n");
    cluster_resolve(c);
    cluster_list(c, 0, "shop/a;shop/b");
    assert_ask(c, c->script, "return tostring(k8s.is_leader())", "true");
    await_ask(c, "return said", "4");
    assert_int_equal(leaders_count(c->parts.leaders), 0);
}

static void test_by_the_flag_all_scripts_take_part(void **state)
{
    struct cluster *c = *state;
    c->host.elects = true;
    election_set(ELECTION_TAKEN);
    c->script = cluster_load(c, "one", "k8s = require 'k8s'");
    struct script *other = cluster_load(c, "two", "require('k8s').leader { lease = 'ops/mine' }");
    election_start(c);
    assert_int_equal(leaders_count(c->parts.leaders), 2);
    assert_ask(c, c->script, "return k8s.is_leader()", "false");
    election_set(ELECTION_GRANTS);
    await_leader(c, true);
    script_free(other);
}

static void assert_refused(struct cluster *c, const char *lua, const char *part)
{
    struct buf text = {0};
    buf_printf(&text, "local k8s = require 'k8s'\n%s", lua);
    const char *error = cluster_load_error(c, "refused", buf_text(&text));
    if (!strstr(error, part) || !strstr(error, "refused.lua:2:")) fail_msg("%s", error);
    buf_clear(&text);
}

static void test_misuse_raises(void **state)
{
    struct cluster *c = *state;
    assert_refused(c, "k8s.leader { leas = 'x' }",
                   "k8s.leader: unknown option \"leas\", did you mean \"lease\"?");
    assert_refused(c, "k8s.leader { lease = 'Ops/x' }", "k8s.leader: lease: \"Ops\" is not a valid name");
    assert_refused(c, "k8s.leader { lease = 'a/b/c' }", "k8s.leader: lease: \"b/c\" is not a valid name");
    assert_refused(c, "k8s.leader { lease = '/x' }", "k8s.leader: lease: \"\" is not a valid name");
    assert_refused(c, "k8s.leader { lease = 'shop/x' } k8s.writes { 'leases:update' }",
                   "k8s.leader: the lease shop/x is not in the namespace \"ops\" of "
                   "--leader-elect-resource-namespace; name none, or declare k8s.writes { "
                   "\"leases.coordination.k8s.io:create\", \"leases.coordination.k8s.io:update\" }");
    assert_refused(c, "k8s.leader { duration = '1500ms' }",
                   "k8s.leader: lease duration must be a whole number of seconds, at least 1");
    assert_refused(c, "k8s.leader { duration = 10, renew = 10 }",
                   "k8s.leader: the lease duration must be longer than the renew deadline");
    assert_refused(c, "k8s.leader { duration = {} }", "k8s.leader: duration must be a duration, not table");
    assert_refused(c, "k8s.leader { labels = { a = 1 } }",
                   "k8s.leader: labels: keys and values must be strings");
    assert_refused(c, "k8s.leader() k8s.leader()", "k8s.leader was already called");
    struct script *other = cluster_load(c, "other", "require('k8s').leader {}");
    assert_refused(c, "k8s.leader { duration = 3, renew = 2 }",
                   "k8s.leader: lease ops/kubelua is also used with different times or labels");
    script_free(other);
    assert_refused(c, "k8s.on_leader()", "k8s.on_leader: the first argument must be a function, not nil");
    assert_refused(c, "k8s.on_leader(print, 1)", "k8s.on_leader: the second argument must be a function");
    assert_refused(c, "k8s.every(1, print, { leadr = true })", "k8s.every: unknown option \"leadr\"");
    assert_refused(c, "k8s.informer('pods'):on_add(print, { leader = 1 })", "leader must be a boolean");
    c->script = cluster_load(c, "loaded", "k8s = require 'k8s'");
    assert_ask(c, c->script, "return (pcall(k8s.leader)) or (pcall(k8s.on_leader, print))", "false");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_leaders_handler_gets_the_cache_at_each_win),
        TEST(test_a_reload_before_the_win_takes_nothing_from_it),
        TEST(test_calls_that_wait_are_cancelled_at_a_loss),
        TEST(test_timers_of_leaders_tick_on_the_leader_only),
        TEST(test_functions_are_notified_of_wins_and_losses),
        TEST(test_a_stop_lets_functions_for_the_end_of_leadership_wait),
        TEST(test_it_does_not_lead_beyond_its_lease_though_the_io_thread_stands_still),
        TEST(test_l11_a_lease_that_nobody_renews_is_unhealthy),
        TEST(test_a_busy_script_keeps_the_lease),
        TEST(test_only_a_leaders_work_is_fenced),
        TEST(test_without_an_election_a_script_leads),
        TEST(test_by_the_flag_all_scripts_take_part),
        TEST(test_misuse_raises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
