/* core/script/handlers/delivery_handover.c: what a handler has not been told of yet goes to the one that
 * follows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/script/support/feed.h"
#include "script/generation/script.h"
#include "script/handlers/delivery.h"

/* One handler with these options; a call takes a second, or as many as its object's uid says. */
static struct script *load(struct cluster *c, const char *name, const char *options)
{
    char text[1024];
    snprintf(text, sizeof text,
             "k8s = require 'k8s' said = ''\n"
             "function take() local text = said said = '' return text end\n"
             "local function work(what, o, ev)\n"
             "  local me = what .. o:name() .. o:resource_version() .. (ev.coalesced and 'c' or '')\n"
             "  said = said .. me .. '( ' k8s.sleep(tonumber(o:uid())) said = said .. ')' .. me .. ' ' end\n"
             "local options = { id = 'it', %s }\n"
             "function options.OnAdd(o, ev) work('+', o, ev) end\n"
             "function options.OnUpdate(_, o, ev) work('=', o, ev) end\n"
             "function options.OnDelete(o, ev) work('-', o, ev) end\n"
             "if options.adds then options = { id = 'it', OnAdd = options.OnAdd } end\n"
             "registration = k8s.informer('pods'):add_event_handler(options)\n",
             options);
    struct script *script = cluster_load(c, name, text);
    cluster_resolve(c);
    return script;
}

/* The informer tells the handler of an object whose call takes so long. The cache had the version before. */
static void tell(struct cluster *c, struct script *script, char what, const char *name, int version,
                 int seconds)
{
    const struct event_info info = {0};
    struct root *before = feed_pod(c, name, version - 1, 0), *object = feed_pod(c, name, version, seconds);
    feed(feed_handler(script), what, before, object, &info);
    root_unref(before);
    root_unref(object);
}

static void test_a_sequential_handler_goes_on_when_the_old_call_has_ended(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "old", ""), *new = load(c, "new", "");
    tell(c, old, '+', "a", 1, 1);
    tell(c, old, '=', "a", 2, 1);
    tell(c, old, '+', "b", 3, 1);
    delivery_handover(feed_handler(old), feed_handler(new));
    tell(c, new, '-', "b", 4, 1);
    assert_ask(c, new, "return take()", "");
    assert_int_equal(script_pending_events(old), 1); /* its call */
    assert_int_equal(script_pending_events(new), 3);
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, old, "return take()", "+a1( )+a1 ");
    assert_ask(c, new, "return take()", "=a2( ");
    virtual_clock_advance(&c->clock, 3000);
    assert_ask(c, new, "return take()", ")=a2 +b3( )+b3 -b4( )-b4 ");
    assert_ask(c, old, "return take()", "");
    script_free(old);
    script_free(new);
}

static void test_only_busy_keys_of_the_old_one_wait_with_concurrency(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "old", "concurrency = 3"), *new = load(c, "new", "concurrency = 3");
    tell(c, old, '+', "a", 1, 2);
    tell(c, old, '+', "b", 2, 3);
    tell(c, old, '=', "a", 3, 1);
    delivery_handover(feed_handler(old), feed_handler(new));
    tell(c, new, '=', "b", 4, 1);
    tell(c, new, '+', "c", 5, 1); /* one more may wait beside those two, not two */
    tell(c, new, '+', "d", 6, 1);
    assert_ask(c, new, "return take()", "+c5( ");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, new, "return take()", ")+c5 +d6( ");
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, new, "return take()", ")+d6 =a3( ");
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, new, "return take()", ")=a3 =b4( )=b4 ");
    assert_int_equal(feed_handler(new)->busy_count, 0);
    assert_null(feed_handler(new)->pending.keys);
    script_free(old);
    script_free(new);
}

static void test_options_may_differ(void **state)
{
    struct cluster *c = *state;
    struct script *one = load(c, "one", ""), *many = load(c, "many", "concurrency = 4"),
                  *adds = load(c, "adds", "adds = true");
    tell(c, one, '+', "a", 1, 3);
    tell(c, one, '=', "a", 2, 1);
    tell(c, one, '+', "b", 3, 9);
    delivery_handover(feed_handler(one), feed_handler(many)); /* of what waits, b may begin now */
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, many, "return take()", "+b3( ");
    tell(c, many, '+', "c", 4, 1);
    tell(c, many, '-', "c", 5, 1);
    delivery_handover(feed_handler(many), feed_handler(adds)); /* has a function for adds alone */
    tell(c, adds, '+', "d", 6, 1);
    virtual_clock_advance(&c->clock, 8000);
    assert_ask(c, adds, "return take()", ""); /* b of the second one still holds it up, a of the first did */
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, adds, "return take()", "+d6( )+d6 ");
    assert_ask(c, one, "return take()", "+a1( )+a1 ");
    script_free(one);
    script_free(many);
    script_free(adds);
}

static void test_changes_that_are_debounced_move_with_their_times(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "old", "debounce = 10"), *new = load(c, "new", "debounce = 10"),
                  *none = load(c, "none", "");
    tell(c, old, '=', "a", 1, 0);
    virtual_clock_advance(&c->clock, 4000);
    tell(c, old, '=', "b", 2, 0);
    delivery_handover(feed_handler(old), feed_handler(new));
    virtual_clock_advance(&c->clock, 4000);
    tell(c, new, '=', "b", 3, 0);
    assert_ask(c, new, "return take()", "");
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, new, "return take()", "=a1( )=a1 ");
    tell(c, new, '=', "a", 4, 0);
    tell(c, new, '=', "c", 5, 0);
    assert_int_equal(script_pending_events(new), 3);
    delivery_handover(feed_handler(new), feed_handler(none));
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, none, "return take()", "=b3c( )=b3c =a4( )=a4 =c5( )=c5 ");
    virtual_clock_advance(&c->clock, 1000000);
    assert_ask(c, new, "return take()", "");
    assert_ask(c, old, "return take()", "");
    script_free(old);
    script_free(new);
    script_free(none);
}

static void test_an_object_that_is_delivered_again_gets_the_deletes(void **state)
{
    struct cluster *c = *state;
    const struct event_info initial = {.initial = true};
    struct script *old = load(c, "old", "debounce = 10"), *new = load(c, "new", "debounce = 10");
    tell(c, old, '-', "z", 1, 5); /* its call waits */
    tell(c, old, '=', "a", 2, 0);
    tell(c, old, '=', "b", 3, 0);
    tell(c, old, '+', "c", 4, 0);
    virtual_clock_advance(&c->clock, 10000);
    assert_ask(c, old, "return take()", "-z1( )-z1 =a2( )=a2 =b3( )=b3 +c4( )+c4 ");
    tell(c, old, '-', "z", 5, 5);
    tell(c, old, '-', "c", 6, 0);
    tell(c, old, '=', "a", 7, 0); /* is not quiet yet */
    assert_int_equal(script_pending_events(old), 3);
    delivery_handover_deletes(feed_handler(old), feed_handler(new));
    assert_int_equal(script_pending_events(old), 1);
    struct root *a = feed_pod(c, "a", 7, 0);
    feed(feed_handler(new), '+', NULL, a, &initial); /* from the cache */
    root_unref(a);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, new, "return take()",
               "+c5( )+c5 -c6( )-c6 +a7( )+a7 "); /* never one that it was not told of */
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, new, "return take()", "");
    script_free(old);
    script_free(new);
}

/* Another replica has it from now on: the new one's cache cannot show that either. */
static void test_an_object_that_is_delivered_again_gets_the_losses(void **state)
{
    struct cluster *c = *state;
    const char *text =
        "k8s = require 'k8s' said = ''\n"
        "k8s.informer('pods'):add_event_handler { id = 'it',\n"
        "  OnAdd = function(o) k8s.sleep(tonumber(o:uid())) said = said .. '+' .. o:name() end,\n"
        "  OnLost = function(o, ev) said = said .. ev.shard .. o:name() end }\n";
    struct script *old = cluster_load(c, "old", text), *new = cluster_load(c, "new", text);
    const struct event_info lost = {.shard = SHARD_LOST};
    struct root *object = feed_pod(c, "b", 1, 0);
    cluster_resolve(c);
    tell(c, old, '+', "a", 1, 1); /* its call waits */
    feed(feed_handler(old), '-', object, object, &lost);
    root_unref(object);
    delivery_handover_deletes(feed_handler(old), feed_handler(new));
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, new, "return said", "+blostb");
    script_free(old);
    script_free(new);
}

/* Its slot was lost before the old handler could be told of it. */
static void test_a_loss_of_what_the_old_handler_was_not_told_of_is_not_told(void **state)
{
    struct cluster *c = *state;
    const char *text = "k8s = require 'k8s' said = ''\n"
                       "k8s.informer('pods'):add_event_handler { id = 'it',\n"
                       "  OnAdd = function(o) said = said .. '+' .. o:name() end,\n"
                       "  OnLost = function(o, ev) said = said .. ev.shard .. o:name() end }\n";
    struct script *old = cluster_load(c, "old", text), *next = cluster_load(c, "next", text),
                  *last = cluster_load(c, "last", text);
    const struct event_info disowned = {.disowned = true}, lost = {.shard = SHARD_LOST};
    struct root *a = feed_pod(c, "a", 1, 0), *b = feed_pod(c, "b", 1, 0);
    cluster_resolve(c);
    feed(feed_handler(old), '+', NULL, a, &disowned);
    feed(feed_handler(old), '+', NULL, b, &disowned);
    delivery_handover(feed_handler(old), feed_handler(next));
    feed(feed_handler(next), '-', a, a, &lost);
    assert_ask(c, next, "return said", "");
    feed(feed_handler(next), '-', a, a, &lost); /* not for ever */
    assert_ask(c, next, "return said", "losta");
    feed_handler(last)->from_now_on = true;
    delivery_handover_deletes(feed_handler(next), feed_handler(last));
    feed(feed_handler(last), '-', b, b, &lost);
    assert_ask(c, last, "return said", "");
    root_unref(a);
    root_unref(b);
    script_free(old);
    script_free(next);
    script_free(last);
}

/* The script, or the one before it, may keep something of the object from then. */
static void test_a_loss_of_what_was_to_be_told_again_is_told(void **state)
{
    struct cluster *c = *state;
    const char *text = "k8s = require 'k8s' said = ''\n"
                       "k8s.informer('pods'):add_event_handler { id = 'it',\n"
                       "  OnAdd = function(o) said = said .. '+' .. o:name() end,\n"
                       "  OnLost = function(o, ev) said = said .. ev.shard .. o:name() end }\n";
    struct script *old = cluster_load(c, "old", text), *new = cluster_load(c, "new", text);
    const struct event_info disowned = {.disowned = true, .initial = true}, lost = {.shard = SHARD_LOST};
    struct root *object = feed_pod(c, "a", 1, 0);
    cluster_resolve(c);
    feed(feed_handler(old), '+', NULL, object, &disowned);
    feed(feed_handler(old), '-', object, object, &lost);
    assert_ask(c, old, "return said", ""); /* it is the first that is told */
    delivery_end(feed_handler(old));       /* as in quarantine */
    feed(feed_handler(old), '+', NULL, object, &disowned);
    feed(feed_handler(old), '-', object, object, &lost);
    assert_ask(c, old, "return said", "losta");
    delivery_handover_deletes(feed_handler(old), feed_handler(new));
    feed(feed_handler(new), '+', NULL, object, &disowned);
    feed(feed_handler(new), '-', object, object, &lost);
    assert_ask(c, new, "return said", "losta");
    root_unref(object);
    script_free(old);
    script_free(new);
}

static void test_deletes_of_an_object_that_is_delivered_again_stay_though_they_are_many(void **state)
{
    struct cluster *c = *state;
    enum { PODS = 3000 }; /* over the mark of a pending list */
    char name[16];
    struct script *old = load(c, "old", ""), *new = load(c, "new", ""), *none = load(c, "none", "");
    tell(c, old, '+', "a", 1, 1); /* its call waits */
    for (int i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "p%d", i);
        tell(c, old, '-', name, 2, 0);
    }
    delivery_handover_deletes(feed_handler(old), feed_handler(new));
    assert_int_equal(script_pending_events(new), 2 * PODS);
    tell(c, new, '-', "a", 2, 0);
    feed_handler(none)->from_now_on = true; /* it is shown nothing, and goes on where the old one was */
    delivery_handover_deletes(feed_handler(new), feed_handler(none));
    assert_int_equal(script_pending_events(none), 2 * PODS + 1);
    assert_int_equal(script_pending_events(new), 0);
    script_free(old);
    script_free(new);
    script_free(none);
}

static void test_an_object_that_came_and_went_is_delivered_to_none(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "old", ""), *new = load(c, "new", "");
    tell(c, old, '+', "a", 1, 1); /* its call waits */
    tell(c, old, '+', "b", 2, 0);
    tell(c, old, '-', "b", 3, 0);
    tell(c, old, '=', "a", 4, 0);
    tell(c, old, '-', "a", 5, 0);
    delivery_handover_deletes(feed_handler(old), feed_handler(new));
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, new, "return take()", "+a3( )+a3 -a5c( )-a5c ");
    tell(c, new, '+', "a", 6, 1);
    tell(c, new, '+', "b", 7, 1);
    delivery_forget(feed_handler(new));
    virtual_clock_advance(&c->clock, 60000);
    assert_ask(c, new, "return take()", "+a6( )+a6 ");
    script_free(old);
    script_free(new);
}

static void test_either_may_go_before_the_other(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "old", ""), *new = load(c, "new", "concurrency = 2");
    tell(c, old, '+', "a", 1, 5);
    tell(c, old, '=', "a", 2, 1);
    delivery_handover(feed_handler(old), feed_handler(new));
    assert_ask(c, old, "registration:remove()", "nil"); /* its call is cancelled: nothing to wait for */
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, new, "return take()", "=a2( )=a2 ");
    tell(c, new, '+', "a", 3, 5);
    struct script *newest = load(c, "newest", "");
    delivery_handover(feed_handler(new), feed_handler(newest));
    tell(c, newest, '+', "b", 4, 1);
    script_free(newest);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, new, "return take()", "+a3( )+a3 ");
    script_free(old);
    script_free(new);
}

/* What counters counted must not be gone, nor what the calls of the first generation took. */
static void test_counters_of_a_handler_go_on(void **state)
{
    struct cluster *c = *state;
    struct script *old = load(c, "it", "debounce = 10"), *new = load(c, "it", "debounce = 10");
    struct buf page = {0};
    tell(c, old, '-', "a", 1, 0);
    tell(c, old, '=', "b", 2, 0);
    tell(c, old, '=', "b", 3, 0); /* joins the one before */
    virtual_clock_advance(&c->clock, 0);
    delivery_handover(feed_handler(old), feed_handler(new));
    script_free(old);
    tell(c, new, '-', "c", 4, 0);
    virtual_clock_advance(&c->clock, 0);
    assert_int_equal(handler_metrics_totals(&feed_handler(new)->metrics).calls, 2);
    series_render(&page);
    assert_non_null(
        strstr(buf_text(&page), "kubelua_handler_coalesced_total{script=\"it\",handler=\"it\"} 1\n"));
    buf_clear(&page);
    script_free(new);
}

enum { S_US = 1000000 };

static void assert_added(int64_t failing_s, int64_t failed_s, int64_t more_failing_s, int64_t more_failed_s,
                         int64_t expected_failing_s, int64_t expected_failed_s)
{
    struct script script = {0}, other = {0};
    script.report.counters =
        (struct script_counters){.failing_us = failing_s * S_US, .failed_us = failed_s * S_US};
    other.report.counters =
        (struct script_counters){.failing_us = more_failing_s * S_US, .failed_us = more_failed_s * S_US};
    script_add_counters(&script, &other);
    assert_int_equal(script.report.counters.failing_us, expected_failing_s * S_US);
    assert_int_equal(script.report.counters.failed_us, expected_failed_s * S_US);
    assert_int_equal(other.report.counters.failed_us, 0);
}

static void test_failures_go_on_over_a_reload_unless_a_minute_was_well(void **state)
{
    assert_added(0, 0, 100, 200, 100, 200);
    assert_added(100, 200, 0, 0, 100, 200);
    assert_added(230, 240, 100, 200, 100, 240);
    assert_added(100, 200, 230, 240, 100, 240);
    assert_added(100, 240, 200, 230, 100, 240); /* both ran at once */
    assert_added(260, 300, 100, 200, 100, 300);
    assert_added(261, 300, 100, 200, 261, 300);
    assert_added(100, 200, 261, 300, 261, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_a_sequential_handler_goes_on_when_the_old_call_has_ended),
        T(test_only_busy_keys_of_the_old_one_wait_with_concurrency),
        T(test_options_may_differ),
        T(test_changes_that_are_debounced_move_with_their_times),
        T(test_an_object_that_is_delivered_again_gets_the_deletes),
        T(test_an_object_that_is_delivered_again_gets_the_losses),
        T(test_a_loss_of_what_the_old_handler_was_not_told_of_is_not_told),
        T(test_a_loss_of_what_was_to_be_told_again_is_told),
        T(test_deletes_of_an_object_that_is_delivered_again_stay_though_they_are_many),
        T(test_an_object_that_came_and_went_is_delivered_to_none),
        T(test_either_may_go_before_the_other),
        T(test_counters_of_a_handler_go_on),
        T(test_failures_go_on_over_a_reload_unless_a_minute_was_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
