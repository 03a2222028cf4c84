/* core/script/work/script_cron.c, bind_cron.c: k8s.cron. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "core/script/support/run.h"
#include "script/work/script_timer.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS, DAY_MS = 24 * HOUR_MS };

/* The clock begins on 2026-01-01, a Thursday. */
static void test_cron_goes_by_the_clock_on_the_wall(void **state)
{
    struct fixture *f = *state;
    assert_lua(
        f,
        "t = k8s.cron('0 3 * * mon-fri', function() say(os.date('!%a %H:%M', k8s.now())) end, { tz = 'UTC' })"
        "return tostring(t)",
        "timer snippet.lua:1");
    virtual_clock_advance(&run_clock, 3 * HOUR_MS - 1);
    assert_lua(f, "return take()", "");
    virtual_clock_advance(&run_clock, 1);
    assert_lua(f, "return take()", "Thu 03:00;");
    virtual_clock_advance(&run_clock, 5 * DAY_MS);
    assert_lua(f, "return take()", "Fri 03:00;Mon 03:00;Tue 03:00;");
    assert_lua(f, "return tostring(t:cancel()) .. tostring(t:stop())", "truefalse");
    virtual_clock_advance(&run_clock, 2 * DAY_MS);
    assert_lua(f, "return take()", "");
}

static void test_cron_has_the_time_of_its_zone(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "local function f(name) return function() say(name .. os.date('!%H:%M', k8s.now())) end end "
               "k8s.cron('0 12 * * *', f 'b', { tz = 'Europe/Berlin' }) "
               "k8s.cron('@daily', f 'l', { tz = 'Australia/Lord_Howe' }) k8s.cron('0 6 * * *', f 'u', { tz "
               "= 'UTC' })",
               "nil");
    virtual_clock_advance(&run_clock, DAY_MS - 1);
    assert_lua(f, "return take()", "u06:00;b11:00;l13:00;");
}

static void test_clocks_that_change_run_nothing_twice_and_leave_nothing_out(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "k8s.cron('30 2 * * *', function() say(os.date('!%d %H:%M', k8s.now())) end, { tz = "
               "'Europe/Berlin' })",
               "nil");
    run_clock.wall_set_us = (31 + 28 + 27) * INT64_C(86400) * 1000000; /* 28 March */
    virtual_clock_advance(&run_clock, 3 * DAY_MS);
    assert_lua(f, "return take()", "28 00:00;28 01:30;29 01:00;30 00:30;"); /* the first made up for */
    run_clock.wall_set_us += INT64_C(208) * 86400 * 1000000;                /* 25 October */
    virtual_clock_advance(&run_clock, 2 * DAY_MS);
    assert_lua(f, "return take()", "25 00:00;25 00:30;26 01:30;");
}

static void test_missed_runs_are_made_up_for_by_one(void **state)
{
    struct fixture *f = *state;
    assert_lua(f,
               "k8s.cron('*/5 * * * *', function() say 'one' end) "
               "k8s.cron('*/5 * * * *', function() say 'none' end, { catch_up = 'none' }) "
               "k8s.cron('*/5 * * * *', function() say '3m' end, { catch_up = '3m' })",
               "nil");
    run_clock.now += 2 * HOUR_MS + 2 * MINUTE_MS; /* asleep */
    virtual_clock_advance(&run_clock, 0);
    assert_lua(f, "return take()", "one;3m;");
    run_clock.now += 2 * MINUTE_MS;
    virtual_clock_advance(&run_clock, MINUTE_MS);
    assert_lua(f, "return take()", "one;none;3m;");
}

static void overlap(struct fixture *f, const char *overlap, const char *said)
{
    char lua[400];
    snprintf(lua, sizeof lua,
             "n = 0 if t then t:stop() end "
             "t = k8s.cron('* * * * *', function() n = n + 1 local i = n say('b' .. i) k8s.sleep(i == 1 and "
             "150 or 1) "
             "say('e' .. i) end, { overlap = %s })",
             overlap);
    assert_lua(f, lua, "nil");
    virtual_clock_advance(&run_clock, 4 * MINUTE_MS);
    snprintf(lua, sizeof lua, "t:stop() return take()");
    assert_lua(f, lua, said);
    virtual_clock_advance(&run_clock, 10 * MINUTE_MS);
    assert_lua(f, "take()", "nil");
}

/* The first takes 150 s, over the two runs that follow. */
static void test_runs_that_overlap(void **state)
{
    struct fixture *f = *state;
    overlap(f, "nil", "b1;e1;b2;");
    overlap(f, "'skip'", "b1;e1;b2;");
    overlap(f, "'queue'", "b1;e1;b2;e2;b3;");
    overlap(f, "'allow'", "b1;b2;e2;b3;e3;e1;b4;");
    overlap(f, "'replace'", "b1;b2;e2;b3;e3;b4;");
    assert_int_equal(f->script->own.timers->count, 0);
}

static void test_skipped_runs_are_counted(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "k8s.cron('* * * * *', function() k8s.sleep(1e6) end)", "nil");
    virtual_clock_advance(&run_clock, 10 * MINUTE_MS);
    assert_int_equal(TAILQ_FIRST(&f->script->own.timers->list)->skipped, 9);
}

static void test_a_run_that_fails_ends_that_run_only(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "k8s.cron('* * * * *', function() say 'x' error 'broken' end)", "nil");
    virtual_clock_advance(&run_clock, 3 * MINUTE_MS);
    assert_lua(f, "return take()", "x;x;x;");
    assert_int_equal(script_counters(f->script).errors, 3);
}

static void test_cron_may_stop_itself(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "t = k8s.cron('* * * * *', function() t:stop() say 'a' k8s.sleep(1) say 'b' end)", "nil");
    virtual_clock_advance(&run_clock, HOUR_MS);
    assert_lua(f, "return take()", "a;b;");
    assert_lua(f, "k8s.cron('* * * * *', function() k8s.sleep(1e6) end, { overlap = 'allow' })", "nil");
    virtual_clock_advance(&run_clock, 3 * MINUTE_MS); /* and the script is freed with three under way */
}

static void test_misuse_raises(void **state)
{
    struct fixture *f = *state;
    assert_raises(f, "k8s.cron()", "snippet.lua:1: k8s.cron: the schedule must be a string, not nil");
    assert_raises(f, "k8s.cron('0 25 * * *', print)",
                  "snippet.lua:1: k8s.cron: hour \"25\": must be *, 0-23, a range");
    assert_raises(f, "k8s.cron('@daily')", "k8s.cron: the second argument must be a function, not nil");
    assert_raises(f, "k8s.cron('@daily', print, { tz = '../../etc/passwd' })",
                  "k8s.cron: tz: \"../../etc/passwd\" is not a time zone name such as \"Europe/Berlin\"");
    assert_raises(f, "k8s.cron('@daily', print, { tz = 'Mars/Olympus' })",
                  "k8s.cron: tz: time zone \"Mars/Olympus\" not found in ");
    assert_raises(f, "k8s.cron('@daily', print, { tz = '' })", "k8s.cron: tz must not be empty");
    assert_raises(
        f, "k8s.cron('@daily', print, { overlap = 'skp' })",
        "k8s.cron: overlap must be \"skip\", \"queue\", \"allow\" or \"replace\", not \"skp\": did you mean "
        "\"skip\"?");
    assert_raises(f, "k8s.cron('@daily', print, { catch_up = 'all' })",
                  "k8s.cron: catch_up, when it is neither \"one\" nor \"none\", must be a number of seconds");
    assert_raises(f, "k8s.cron('@daily', print, { timezone = 'UTC' })",
                  "k8s.cron: unknown option \"timezone\"");
    assert_int_equal(f->script->own.timers->count, 0);
}

static void assert_described(const struct script_timer *timer, const char *expected)
{
    struct buf text = {0};
    script_timer_describe(timer, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static void test_timers_report_what_they_are_and_when_they_are_due(void **state)
{
    struct fixture *f = *state;
    const int64_t start_us = clock_wall_us(&run_clock.clock);
    assert_lua(
        f,
        "k8s.every('90s', print) k8s.after(0.5, print) k8s.every('2h', print) k8s.cron('@daily', print) "
        "k8s.cron('5 0 * * *', print, { tz = 'UTC' })",
        "nil");
    struct script_timer *t = TAILQ_FIRST(&f->script->own.timers->list);
    assert_described(t, "every 90s");
    assert_int_equal(script_timer_due_us(t), start_us + 90 * INT64_C(1000000));
    assert_described(t = TAILQ_NEXT(t, link), "after 500ms");
    assert_described(t = TAILQ_NEXT(t, link), "every 2h");
    assert_described(t = TAILQ_NEXT(t, link), "cron @daily");
    assert_described(t = TAILQ_NEXT(t, link), "cron 5 0 * * * UTC");
    assert_int_equal(script_timer_due_us(t), start_us + 300 * INT64_C(1000000));
}

static void test_a_timer_takes_over_when_another_is_due(void **state)
{
    struct fixture *f = *state;
    assert_lua(f, "k8s.every('60s', function() say 'old' end) old = k8s.cron('0 3 * * *', print)", "nil");
    struct script_timer *every = TAILQ_FIRST(&f->script->own.timers->list), *cron = TAILQ_NEXT(every, link);
    virtual_clock_advance(&run_clock, 50000);
    assert_lua(f,
               "k8s.every('60s', function() say 'new' end) k8s.cron('0 3 * * *', function() say 'three' end)",
               "nil");
    struct script_timer *new_every = TAILQ_NEXT(cron, link), *new_cron = TAILQ_NEXT(new_every, link);
    script_timer_take_due(new_every, every);
    script_timer_stop(f->script->L, every);
    virtual_clock_advance(&run_clock, 10000);
    assert_lua(f, "return take()", "new;");
    script_timer_stop(f->script->L, new_every);
    cron->plan.next_s -= 3 * 3600; /* due, and not begun: the new one makes up for it */
    script_timer_take_due(new_cron, cron);
    virtual_clock_advance(&run_clock, 0);
    assert_lua(f, "return take()", "three;");
    assert_true(script_timer_due_us(new_cron) > clock_wall_us(&run_clock.clock));
    cron->queued = true; /* a run that waits for the end of another */
    cron->skipped = 3;
    cron->plan.next_s = new_cron->plan.next_s;
    script_timer_take_due(new_cron, cron);
    virtual_clock_advance(&run_clock, 0);
    assert_lua(f, "return take()", "three;");
    assert_int_equal(new_cron->skipped, 3);
}

static void test_misuse_of_a_command_names_the_function_that_was_called(void **state)
{
    struct fixture *f = *state;
    f->script->phase = SCRIPT_LOADING;
    assert_raises(f, "k8s.cron('@daily', print, { name = '-a' })",
                  "snippet.lua:1: k8s.cron: \"-a\" is not a valid name");
    assert_raises(f, "k8s.command('-a', print)", "snippet.lua:1: k8s.command: \"-a\" is not a valid name");
    assert_raises(f, "k8s.command(nil, print)", "snippet.lua:1: k8s.command: the name must be a string");
    assert_raises(f, "k8s.command('a', 1)",
                  "snippet.lua:1: k8s.command: the second argument must be a function");
    assert_raises(f, "k8s.command('a', print, { help = ('x'):rep(2001) })",
                  "snippet.lua:1: k8s.command: help has 2001 bytes, and may have at most 2000");
    f->script->phase = SCRIPT_RUNNING;
    assert_raises(f, "k8s.command('a', print)", "snippet.lua:1: k8s.command may only be called while");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)
        T(test_cron_goes_by_the_clock_on_the_wall),
        T(test_cron_has_the_time_of_its_zone),
        T(test_clocks_that_change_run_nothing_twice_and_leave_nothing_out),
        T(test_missed_runs_are_made_up_for_by_one),
        T(test_runs_that_overlap),
        T(test_skipped_runs_are_counted),
        T(test_a_run_that_fails_ends_that_run_only),
        T(test_cron_may_stop_itself),
        T(test_misuse_raises),
        T(test_misuse_of_a_command_names_the_function_that_was_called),
        T(test_timers_report_what_they_are_and_when_they_are_due),
        T(test_a_timer_takes_over_when_another_is_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
