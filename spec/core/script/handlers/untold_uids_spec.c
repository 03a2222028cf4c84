/* core/script/handlers/untold.c, delivery.c: a name whose next object belongs to another slot than the one
 * whose add was dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fence.h"
#include "core/script/support/feed.h"
#include "core/script/support/sharing.h"
#include "informer/shard/slots.h"
#include "informer/shared/registration.h"
#include "script/handlers/delivery.h"

/* An update takes a second. */
static const char telling[] =
    "k8s = require 'k8s' said = ''\n"
    "k8s.informer('pods', { shard = true }):add_event_handler {\n"
    "  OnAdd = function(o, ev) if not ev.initial then said = said .. '+' .. o:name() .. ' ' end end,\n"
    "  OnUpdate = function(_, o) said = said .. o:name() .. ' ' k8s.sleep(1) end,\n"
    "  OnDelete = function(o) said = said .. 'deleted ' .. o:name() .. ' ' end,\n"
    "  OnLost = function(o, ev) said = said .. '-' .. o:name() .. '(' .. ev.shard .. ') ' end }\n";

struct namesakes {
    struct sharing s;
    struct fence *fence;
    struct slot_set all, second;
    struct root *b, *first, *next;
};

static void load_namesakes(struct namesakes *n, struct cluster *c, const char *text)
{
    enum { FIRST = 1, SECOND = 27183 };
    *n = (struct namesakes){.fence = sharing_fence(c),
                            .b = feed_pod(c, "b", 1, SECOND),
                            .first = feed_pod(c, "web-0", 2, FIRST),
                            .next = feed_pod(c, "web-0", 3, SECOND)};
    slot_set_add(&n->second, shard_slot(STR("27183")));
    n->all = n->second;
    slot_set_add(&n->all, shard_slot(STR("1")));
    assert_int_not_equal(shard_slot(STR("27183")), shard_slot(STR("1")));
    sharing_load(&n->s, c, text, n->fence);
    sharing_give(&n->s, n->fence, &n->all);
}

static void tell(struct namesakes *n, char what, struct root *before, struct root *object)
{
    const struct event_info info = {0};
    feed(feed_handler(n->s.script), what, before, object, &info);
}

static void end_namesakes(struct namesakes *n)
{
    assert_null(feed_handler(n->s.script)->untold.objects);
    root_unref(n->b);
    root_unref(n->first);
    root_unref(n->next);
    sharing_end(&n->s);
    fence_unref(n->fence);
}

static void test_the_end_of_what_an_update_told_of_is_told(void **state)
{
    struct cluster *c = *state;
    struct namesakes n;
    load_namesakes(&n, c, telling);
    tell(&n, '=', n.b, n.b); /* its call is under way */
    tell(&n, '+', NULL, n.first);
    sharing_give(&n.s, n.fence, &n.second);
    tell(&n, '=', n.first, n.next);
    tell(&n, '-', n.next, n.next);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, n.s.script, "return said", "b web-0 deleted web-0 ");
    end_namesakes(&n);
}

static void test_the_end_of_what_an_update_that_waited_told_of_is_told(void **state)
{
    struct cluster *c = *state;
    struct namesakes n;
    load_namesakes(&n, c, telling);
    tell(&n, '=', n.b, n.b);
    tell(&n, '+', NULL, n.first);
    tell(&n, '=', n.first, n.next);
    sharing_give(&n.s, n.fence, &n.second);
    virtual_clock_advance(&c->clock, 1500);
    assert_ask(c, n.s.script, "return said", "b web-0 ");
    tell(&n, '-', n.next, n.next);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, n.s.script, "return said", "b web-0 deleted web-0 ");
    end_namesakes(&n);
}

/* The turn of the handler may come before the news. */
static void test_the_end_of_what_an_update_with_a_closed_fence_did_not_tell_of_is_not_told(void **state)
{
    struct cluster *c = *state;
    struct namesakes n;
    load_namesakes(&n, c, telling);
    tell(&n, '=', n.b, n.b);
    tell(&n, '+', NULL, n.first);
    tell(&n, '=', n.first, n.next);
    tell(&n, '-', n.next, n.next);
    fence_close(n.fence);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, n.s.script, "return said", "b ");
    end_namesakes(&n);
}

static void test_the_end_of_what_no_function_was_told_of_is_not_told(void **state)
{
    struct cluster *c = *state;
    struct namesakes n;
    load_namesakes(&n, c,
                   "k8s = require 'k8s' said = ''\n"
                   "k8s.informer('pods', { shard = true }):add_event_handler {\n"
                   "  OnAdd = function(o) said = said .. '+' .. o:name() .. ' ' k8s.sleep(1) end,\n"
                   "  OnDelete = function(o) said = said .. 'deleted ' .. o:name() .. ' ' end }\n");
    tell(&n, '+', NULL, n.b);
    tell(&n, '+', NULL, n.first);
    sharing_give(&n.s, n.fence, &n.second);
    tell(&n, '=', n.first, n.next);
    tell(&n, '-', n.next, n.next);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, n.s.script, "return said", "+b ");
    end_namesakes(&n);
}

/* The end of one object, and the add of the next one of that name, which is dropped. */
static void end_before_an_add_is_dropped(struct cluster *c, const struct event_info *end, const char *says)
{
    const struct event_info lost = {.shard = SHARD_LOST};
    struct namesakes n;
    load_namesakes(&n, c, telling);
    tell(&n, '=', n.b, n.b);
    feed(feed_handler(n.s.script), '-', n.next, n.next, end);
    tell(&n, '+', NULL, n.first);
    sharing_give(&n.s, n.fence, &n.second);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, n.s.script, "return said", says);
    feed(feed_handler(n.s.script), '-', n.first, n.first, &lost);
    assert_ask(c, n.s.script, "return said", says);
    end_namesakes(&n);
}

static void test_a_delete_that_waits_is_told_whatever_is_dropped_behind_it(void **state)
{
    end_before_an_add_is_dropped(*state, &(struct event_info){0}, "b deleted web-0 ");
}

static void test_a_loss_that_waits_is_told_whatever_is_dropped_behind_it(void **state)
{
    end_before_an_add_is_dropped(*state, &(struct event_info){.shard = SHARD_LOST}, "b -web-0(lost) ");
}

static void keep(struct script_handler *h, enum notification call, struct root *before, struct root *object,
                 const struct event_info *info)
{
    const struct event_handler handler = delivery_callbacks(h);
    const struct change change = {call, before, object, *info};
    assert_true(handler.keeps(handler.ctx, &change));
}

static void test_an_end_that_is_kept_is_told_whatever_is_dropped_behind_it(void **state)
{
    const struct event_info lost = {.shard = SHARD_LOST}, none = {0};
    struct cluster *c = *state;
    struct namesakes n;
    load_namesakes(&n, c, telling);
    struct script_handler *h = feed_handler(n.s.script);
    n.s.script->turn.ticks = 100; /* it has used up its time */
    keep(h, NOTIFY_DELETE, n.next, n.next, &lost);
    keep(h, NOTIFY_ADD, NULL, n.first, &none);
    sharing_give(&n.s, n.fence, &n.second);
    virtual_clock_advance(&c->clock, 0);
    assert_ask(c, n.s.script, "return said", "-web-0(lost) ");
    feed(h, '-', n.first, n.first, &lost);
    assert_ask(c, n.s.script, "return said", "-web-0(lost) ");
    end_namesakes(&n);
}

static void test_a_handler_in_quarantine_remembers_none(void **state)
{
    struct cluster *c = *state;
    struct namesakes n;
    load_namesakes(&n, c, telling);
    tell(&n, '=', n.b, n.b);
    tell(&n, '+', NULL, n.first);
    sharing_give(&n.s, n.fence, &n.second);
    assert_non_null(feed_handler(n.s.script)->untold.objects);
    delivery_quarantined(feed_handler(n.s.script));
    end_namesakes(&n);
}

/* A term ends by the clock, and the news of it comes later: meanwhile the object goes, and comes anew. */
static void replace_with_a_closed_fence(struct namesakes *n, struct cluster *c, struct root *again)
{
    tell(n, '=', n->b, n->b); /* its call is under way */
    fence_close(n->fence);
    tell(n, '-', n->first, n->first);
    tell(n, '+', NULL, again);
    virtual_clock_advance(&c->clock, 5000);
}

static void lose(struct namesakes *n, struct root *object)
{
    feed(feed_handler(n->s.script), '-', object, object, &(struct event_info){.shard = SHARD_LOST});
}

static void test_of_an_object_that_came_behind_one_that_waited_no_end_is_told(void **state)
{
    struct cluster *c = *state;
    struct namesakes n;
    load_namesakes(&n, c, telling);
    struct root *again = feed_pod(c, "web-0", 4, 1);
    tell(&n, '=', n.b, n.b);
    tell(&n, '+', NULL, n.first);
    replace_with_a_closed_fence(&n, c, again);
    assert_ask(c, n.s.script, "return said", "b ");
    lose(&n, again);
    assert_ask(c, n.s.script, "return said", "b ");
    root_unref(again);
    end_namesakes(&n);
}

static void test_of_a_known_object_the_loss_is_told_whatever_came_behind_it(void **state)
{
    struct cluster *c = *state;
    struct namesakes n;
    load_namesakes(&n, c, telling);
    struct root *again = feed_pod(c, "web-0", 4, 1);
    tell(&n, '+', NULL, n.first);
    replace_with_a_closed_fence(&n, c, again);
    assert_ask(c, n.s.script, "return said", "+web-0 b -web-0(lost) ");
    lose(&n, again);
    assert_ask(c, n.s.script, "return said", "+web-0 b -web-0(lost) ");
    root_unref(again);
    end_namesakes(&n);
}

/* The delete comes and is told to no function, so that it does not wait behind the add. */
static void end_behind_an_add_that_waits(struct cluster *c, bool comes_again)
{
    struct namesakes n;
    load_namesakes(&n, c,
                   "k8s = require 'k8s' said = ''\n"
                   "k8s.informer('pods', { shard = true }):add_event_handler {\n"
                   "  OnAdd = function(o) said = said .. '+' .. o:name() .. ' ' k8s.sleep(1) end,\n"
                   "  OnLost = function(o) said = said .. '-' .. o:name() .. ' ' end }\n");
    tell(&n, '+', NULL, n.b);
    tell(&n, '+', NULL, n.first);
    tell(&n, '-', n.first, n.first);
    if (comes_again) tell(&n, '+', NULL, n.first);
    sharing_give(&n.s, n.fence, &n.second);
    virtual_clock_advance(&c->clock, 5000);
    if (comes_again) assert_non_null(feed_handler(n.s.script)->untold.objects);
    if (comes_again) lose(&n, n.first);
    assert_ask(c, n.s.script, "return said", "+b ");
    end_namesakes(&n);
}

static void test_an_object_whose_end_no_function_was_told_of_is_not_remembered(void **state)
{
    end_behind_an_add_that_waits(*state, false);
}

static void test_unless_it_has_come_again(void **state)
{
    end_behind_an_add_that_waits(*state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_the_end_of_what_an_update_told_of_is_told),
        T(test_the_end_of_what_an_update_that_waited_told_of_is_told),
        T(test_the_end_of_what_an_update_with_a_closed_fence_did_not_tell_of_is_not_told),
        T(test_the_end_of_what_no_function_was_told_of_is_not_told),
        T(test_a_delete_that_waits_is_told_whatever_is_dropped_behind_it),
        T(test_a_loss_that_waits_is_told_whatever_is_dropped_behind_it),
        T(test_an_end_that_is_kept_is_told_whatever_is_dropped_behind_it),
        T(test_a_handler_in_quarantine_remembers_none),
        T(test_of_an_object_that_came_behind_one_that_waited_no_end_is_told),
        T(test_of_a_known_object_the_loss_is_told_whatever_came_behind_it),
        T(test_an_object_whose_end_no_function_was_told_of_is_not_remembered),
        T(test_unless_it_has_come_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
