/* core/script/handlers/leading.c, script_timer.c, script_cron.c: what the old generation still does holds
 * back the new one where the two must not meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/mem.h"
#include "core/script/support/cluster.h"
#include "script/generation/handover.h"

#define HEAD                                        \
    "k8s = require 'k8s' said = ''\n"               \
    "function say(x) said = said .. x .. ' ' end\n" \
    "function take() local text = said said = '' return text end\n"

/* A generation; `before` NULL: the first. */
static struct script *load(struct cluster *c, struct script *before, const char *lua)
{
    char path[96];
    struct err err;
    struct handover done;
    snprintf(path, sizeof path, "%s/script.lua", c->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", HEAD, lua);
    fclose(file);
    const struct script_source source = {.path = path,
                                         .name = "unit",
                                         .generation = before ? script_generation(before) + 1 : 1,
                                         .before = before};
    struct script *script = script_prepare(&c->host, &source, &err);
    if (!script) fail_msg("%s", err.text);
    cluster_note_claims(c, script);
    bool ok = before ? script_handover(before, script, &done, &err) : script_start(script, &err);
    if (!ok) fail_msg("%s", err.text);
    return script;
}

static void advance(struct cluster *c, int64_t ms)
{
    virtual_clock_advance(&c->clock, ms);
}

/* --- leaders */

/* Its `stop` takes so long. */
#define LEADS(seconds)                            \
    "k8s.on_leader(function() say('start') end, " \
    "function() say('stop') k8s.sleep(" #seconds ") say('stopped') end)\n"

static void test_a_start_waits_for_the_stop_before_it(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, NULL, LEADS(5));
    advance(c, 0);
    assert_ask(c, old, "return take()", "start ");
    struct script *new = load(c, old, LEADS(1));
    assert_ask(c, old, "return take()", "stop ");
    advance(c, 4999);
    assert_ask(c, new, "return take()", "");
    advance(c, 1);
    assert_ask(c, old, "return take()", "stopped ");
    assert_ask(c, new, "return take()", "start ");
    script_free(old);
    script_free(new);
}

static void test_a_stop_that_does_not_wait_delays_nobody(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, NULL, "k8s.on_leader(function() end, function() say('stop') end)\n");
    advance(c, 0);
    struct script *new = load(c, old, LEADS(1));
    advance(c, 0);
    assert_ask(c, old, "return take()", "stop ");
    assert_ask(c, new, "return take()", "start ");
    script_free(old);
    script_free(new);
}

static void test_the_end_of_the_old_one_lets_it_begin(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, NULL, LEADS(1000));
    advance(c, 0);
    struct script *new = load(c, old, LEADS(1));
    advance(c, 10000);
    assert_ask(c, new, "return take()", "");
    script_free(old); /* the deadline of the drain */
    advance(c, 0);
    assert_ask(c, new, "return take()", "start ");
    script_free(new);
}

static void test_the_third_waits_for_the_first_and_the_second_never_begins(void **state)
{
    struct cluster *c = *state;
    struct script *first = load(c, NULL, LEADS(5));
    advance(c, 0);
    struct script *second = load(c, first, LEADS(50));
    advance(c, 1000);
    struct script *third = load(c, second, LEADS(1));
    advance(c, 1000);
    assert_ask(c, second, "return take()", "");
    script_free(second);
    assert_ask(c, third, "return take()", "");
    advance(c, 3000);
    assert_ask(c, third, "return take()", "start ");
    script_free(first);
    script_free(third);
}

static void test_who_waits_may_go_first(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, NULL, LEADS(5));
    advance(c, 0);
    struct script *new = load(c, old, LEADS(1));
    script_free(new);
    advance(c, 5000);
    assert_ask(c, old, "return take()", "start stop stopped ");
    script_free(old);
}

/* --- timers */

static void test_a_tick_under_way_is_not_met_by_the_next_generation(void **state)
{
    struct cluster *c = *state;
    static const char every[] = "k8s.every('10s', function() say('(') k8s.sleep(25) say(')') end)\n";
    struct script *old = load(c, NULL, every);
    advance(c, 10000);
    assert_ask(c, old, "return take()", "( ");
    struct script *new = load(c, old, every);
    advance(c, 24999);
    assert_ask(c, new, "return take()", "");
    advance(c, 1); /* at 35: that of 20 was due, and comes now */
    assert_ask(c, old, "return take()", ") ");
    advance(c, 0);
    assert_ask(c, new, "return take()", "( ");
    advance(c, 25000);
    assert_ask(c, new, "return take()", ") ( ");
    script_free(old);
    script_free(new);
}

static void test_a_tick_that_is_short_changes_no_time(void **state)
{
    struct cluster *c = *state;
    static const char every[] = "k8s.every('10s', function() say('(') k8s.sleep(2) say(')') end)\n";
    struct script *old = load(c, NULL, every);
    advance(c, 11000);
    struct script *new = load(c, old, every), *third;
    advance(c, 500);
    third = load(c, new, every); /* it follows the first, as the second has begun nothing */
    advance(c, 500);
    assert_ask(c, old, "return take()", "( ) ");
    advance(c, 7999);
    assert_ask(c, third, "return take()", "");
    advance(c, 1);
    assert_ask(c, third, "return take()", "( ");
    assert_ask(c, new, "return take()", "");
    script_free(old);
    script_free(new);
    script_free(third);
}

static void test_the_deadline_of_the_drain_ends_the_tick(void **state)
{
    struct cluster *c = *state;
    static const char every[] = "k8s.every('1s', function() say('(') k8s.sleep(100) end)\n";
    struct script *old = load(c, NULL, every);
    advance(c, 1000);
    struct script *new = load(c, old, every);
    advance(c, 9000);
    assert_ask(c, new, "return take()", "");
    script_free(old);
    advance(c, 0);
    assert_ask(c, new, "return take()", "( ");
    struct script *third = load(c, new, every);
    script_free(third); /* who waits may go first */
    script_free(new);
}

static void test_schedules_overlap_as_their_options_say(void **state)
{
    static const struct {
        const char *overlap, *at_due, *at_end, *old_at_end;
    } cases[] = {{"skip", "", "", ") "},
                 {"queue", "", "( ", ") "},
                 {"allow", "( ", "", ") "},
                 {"replace", "( ", "", ""}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cluster *c = *state;
        char lua[200];
        snprintf(lua, sizeof lua,
                 "k8s.cron('* * * * *', function() say('(') k8s.sleep(90) say(')') end, "
                 "{ tz = 'UTC', overlap = '%s' })\n",
                 cases[i].overlap);
        struct script *old = load(c, NULL, lua);
        advance(c, 60000);
        assert_ask(c, old, "return take()", "( ");
        struct script *new = load(c, old, lua);
        advance(c, 60000); /* a run is due, half a minute before the end of the one under way */
        assert_ask(c, new, "return take()", cases[i].at_due);
        advance(c, 30001);
        assert_ask(c, old, "return take()", cases[i].old_at_end);
        assert_ask(c, new, "return take()", cases[i].at_end);
        script_free(old);
        script_free(new);
        advance(c, 29999); /* to the next whole minute */
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cluster_setup_by_hand, cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_start_waits_for_the_stop_before_it),
        TEST(test_a_stop_that_does_not_wait_delays_nobody),
        TEST(test_the_end_of_the_old_one_lets_it_begin),
        TEST(test_the_third_waits_for_the_first_and_the_second_never_begins),
        TEST(test_who_waits_may_go_first),
        TEST(test_a_tick_under_way_is_not_met_by_the_next_generation),
        TEST(test_a_tick_that_is_short_changes_no_time),
        TEST(test_the_deadline_of_the_drain_ends_the_tick),
        TEST(test_schedules_overlap_as_their_options_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
