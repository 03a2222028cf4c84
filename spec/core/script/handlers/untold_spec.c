/* core/script/handlers/untold.c, handler.c: what waited to be told of objects that another replica gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fence.h"
#include "core/script/support/feed.h"
#include "core/script/support/sharing.h"
#include "script/handlers/delivery.h"

/* An update takes a second, all else nothing. */
#define TELLING(filter)                                                              \
    "k8s = require 'k8s' said = ''\n"                                                \
    "k8s.informer('pods', { shard = 'namespace' }):add_event_handler { " filter "\n" \
    "  OnUpdate = function(_, o) said = said .. o:name() .. ' ' k8s.sleep(1) end,\n" \
    "  OnDelete = function(o) said = said .. 'deleted ' .. o:name() .. ' ' end,\n"   \
    "  OnLost = function(o, ev) said = said .. '-' .. o:name() .. '(' .. ev.shard .. ') ' end }\n"
static const char telling[] = TELLING(""),
                  picky[] = TELLING("filter = function(o) return o:label 'x' == 'yes' end,"),
                  picky_by_where[] = TELLING("where = { ['metadata.labels.x'] = 'yes' },");

/* These are told of objects that come after the first list, too. */
#define ADDS "OnAdd = function(o, ev) if not ev.initial then said = said .. '+' .. o:name() .. ' ' end end,"
static const char adding[] = TELLING(ADDS), adding_late[] = TELLING(ADDS "debounce = '1s',"),
                  adding_picky[] = TELLING(ADDS "filter = function(o) return o:label 'x' == 'yes' end,");

/* No cache has it any more that would tell of its loss. */
static void test_of_a_delete_that_waits_the_loss_is_told(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, telling, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1"); /* its call is under way */
    cluster_event(c, 0, LW_DELETED, "shop/c");
    cluster_event(c, 0, LW_DELETED, "mine/a");
    sharing_give(&s, fence, &s.mine);
    assert_true(sharing_is_busy(&s));
    sharing_give(&s, fence, &s.both);
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "b -c(lost) deleted a -b(lost) ");
    assert_false(sharing_is_busy(&s));
    sharing_end(&s);
    fence_unref(fence);
}

static void test_a_handler_without_on_lost_is_told_nothing_of_it(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c,
                 "k8s = require 'k8s' said = ''\n"
                 "local pods = k8s.informer('pods', { shard = 'namespace' })\n"
                 "pods:add_event_handler { OnUpdate = function(_, o) k8s.sleep(1) end,\n"
                 "  OnDelete = function(o) said = said .. o:name() .. ' ' end }",
                 fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    cluster_event(c, 0, LW_DELETED, "shop/c");
    cluster_event(c, 0, LW_DELETED, "mine/a");
    sharing_give(&s, fence, &s.mine);
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "a ");
    sharing_end(&s);
    fence_unref(fence);
}

/* An object that left the filter, and one that is gone; neither is told of by the cache. */
static void lose_kept(struct cluster *c, const char *text, const char *says)
{
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, text, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=yes");
    cluster_event(c, 0, LW_MODIFIED, "shop/c x=yes");
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=yes");
    s.script->turn.ticks = 100; /* it has used up its time */
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=no");
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=no");
    cluster_event(c, 0, LW_DELETED, "shop/c x=yes");
    sharing_give(&s, fence, &s.mine);
    assert_true(sharing_is_busy(&s));
    assert_ask(c, s.script, "return said", "");
    sharing_give(&s, fence, &s.both);
    virtual_clock_advance(&c->clock, 0);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", says);
    assert_false(sharing_is_busy(&s));
    sharing_end(&s);
    fence_unref(fence);
}

static void test_of_what_is_kept_and_would_be_a_delete_the_loss_is_told(void **state)
{
    lose_kept(*state, picky, "-b(lost) deleted a -c(lost) ");
}

static void test_a_filter_by_values_makes_losses_of_what_is_kept_too(void **state)
{
    lose_kept(*state, picky_by_where, "-b(lost) deleted a -c(lost) ");
}

/* "shop" is lost, and is this replica's again at once; its objects come with a list later. */
static void lose_shop(struct sharing *s, struct fence *fence)
{
    const struct script_handler *h = TAILQ_FIRST(&s->script->own.handlers->list);
    sharing_give(s, fence, &s->mine);
    sharing_give(s, fence, &s->both);
    virtual_clock_advance(&s->cluster->clock, 1000);
    cluster_settle(s->cluster);
    assert_null(h->untold.objects); /* it need not be remembered any longer */
}

static void test_of_an_object_whose_add_waited_no_end_is_told(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, adding, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1"); /* its call is under way */
    cluster_event(c, 0, LW_ADDED, "shop/gone");
    cluster_event(c, 0, LW_ADDED, "shop/there");
    cluster_event(c, 0, LW_DELETED, "shop/gone");
    lose_shop(&s, fence);
    assert_ask(c, s.script, "return said", "b -b(lost) -c(lost) ");
    cluster_list(c, 1, "shop/there;shop/gone"); /* from here on it knows them */
    lose_shop(&s, fence);
    assert_ask(c, s.script, "return said:sub(21)", "+there +gone -gone(lost) -there(lost) ");
    sharing_end(&s);
    fence_unref(fence);
}

/* the delete of a key that the cache did not have is told of, its loss is not. */
static void test_of_an_object_that_was_never_seen_no_loss_is_told(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, adding, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    cluster_event(c, 0, LW_DELETED, "shop/unseen");
    cluster_event(c, 0, LW_DELETED, "mine/unseen");
    lose_shop(&s, fence);
    assert_ask(c, s.script, "return said", "b deleted unseen -b(lost) -c(lost) ");
    sharing_end(&s);
    fence_unref(fence);
}

static void test_of_an_object_whose_add_was_kept_no_end_is_told(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, adding, fence);
    s.script->turn.ticks = 100; /* it has used up its time */
    cluster_event(c, 0, LW_ADDED, "shop/gone");
    cluster_event(c, 0, LW_ADDED, "shop/there");
    cluster_event(c, 0, LW_DELETED, "shop/gone");
    cluster_event(c, 0, LW_DELETED, "shop/c");
    lose_shop(&s, fence);
    assert_ask(c, s.script, "return said", "-c(lost) -b(lost) ");
    sharing_end(&s);
    fence_unref(fence);
}

/* The filter is asked of the kept ones later; `other` never passes. */
static void test_of_an_object_that_was_to_pass_the_filter_no_end_is_told(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, adding_picky, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=yes");
    s.script->turn.ticks = 100;
    cluster_event(c, 0, LW_ADDED, "shop/gone x=yes");
    cluster_event(c, 0, LW_ADDED, "shop/left x=yes");
    cluster_event(c, 0, LW_ADDED, "shop/other x=no");
    cluster_event(c, 0, LW_ADDED, "shop/there x=yes");
    cluster_event(c, 0, LW_DELETED, "shop/gone x=yes");
    cluster_event(c, 0, LW_MODIFIED, "shop/left x=no");
    lose_shop(&s, fence);
    assert_ask(c, s.script, "return said", "+b -b(lost) ");
    cluster_list(c, 1, "shop/other x=yes;shop/left x=yes");
    lose_shop(&s, fence);
    assert_ask(c, s.script, "return said:sub(13)", "+other +left -left(lost) -other(lost) ");
    sharing_end(&s);
    fence_unref(fence);
}

static void test_of_an_object_that_was_not_quiet_yet_no_end_is_told(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, adding_late, fence);
    cluster_event(c, 0, LW_ADDED, "shop/gone");
    cluster_event(c, 0, LW_ADDED, "shop/there");
    cluster_event(c, 0, LW_MODIFIED, "shop/c x=1"); /* known, whatever waits */
    fence_close(fence);
    struct slot_set shop = slot_set_minus(&s.both, &s.mine);
    handlers_lose(s.script, &shop);
    cluster_event(c, 0, LW_DELETED, "shop/gone"); /* the cache has yet to lose it */
    cluster_event(c, 0, LW_DELETED, "shop/c");
    assert_ask(c, s.script, "return said", "-c(lost) ");
    sharing_give(&s, NULL, &s.both);
    virtual_clock_advance(&c->clock, 5000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "-c(lost) -a(lost) -b(lost) ");
    sharing_end(&s);
    fence_unref(fence);
}

/* The turn of the handler may come before the news that the term is over. */
static void test_events_that_are_taken_with_a_closed_fence_are_lost_ones(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, adding, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    cluster_event(c, 0, LW_ADDED, "shop/gone");
    cluster_event(c, 0, LW_DELETED, "shop/gone");
    cluster_event(c, 0, LW_DELETED, "shop/c");
    fence_close(fence);
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "b -c(lost) ");
    sharing_end(&s);
    fence_unref(fence);
}

/* It may be noticed late that a term is over: the delete of what waits to be added comes before that. */
static void end_with_an_add_that_waits(struct sharing *s, struct cluster *c, struct fence *fence)
{
    sharing_load(s, c, adding, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1"); /* its call is under way */
    cluster_event(c, 0, LW_ADDED, "shop/gone");
    fence_close(fence);
    cluster_event(c, 0, LW_DELETED, "shop/gone");
    cluster_event(c, 0, LW_DELETED, "shop/c");
}

static void test_of_an_object_whose_add_waited_at_the_end_of_a_term_no_end_is_told(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    end_with_an_add_that_waits(&s, c, fence);
    sharing_give(&s, NULL, &s.both);
    virtual_clock_advance(&c->clock, 5000);
    assert_ask(c, s.script, "return said", "b -c(lost) -a(lost) -b(lost) ");
    assert_null(feed_handler(s.script)->untold.objects);
    sharing_end(&s);
    fence_unref(fence);
}

static void test_nor_if_the_turn_of_the_handler_comes_first(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    end_with_an_add_that_waits(&s, c, fence);
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, s.script, "return said", "b -c(lost) ");
    assert_null(feed_handler(s.script)->untold.objects);
    sharing_end(&s);
    fence_unref(fence);
}

/* It comes back with a list while its loss still waits, and is lost once more. */
static void lose_twice(struct sharing *s, struct cluster *c, struct fence *fence)
{
    sharing_give(s, fence, &s->mine);
    sharing_give(s, fence, &s->both);
    cluster_list(c, 1, "shop/b;shop/new");
    sharing_give(s, fence, &s->mine);
    virtual_clock_advance(&c->clock, 2000);
    cluster_settle(c);
}

static void test_a_loss_that_waits_is_told_whatever_is_dropped_behind_it(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, adding, fence);
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=1"); /* its call is under way */
    lose_twice(&s, c, fence);
    assert_ask(c, s.script, "return said", "a -b(lost) -c(lost) ");
    sharing_end(&s);
    fence_unref(fence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_of_a_delete_that_waits_the_loss_is_told),
        T(test_a_handler_without_on_lost_is_told_nothing_of_it),
        T(test_of_what_is_kept_and_would_be_a_delete_the_loss_is_told),
        T(test_a_filter_by_values_makes_losses_of_what_is_kept_too),
        T(test_of_an_object_whose_add_waited_no_end_is_told),
        T(test_of_an_object_that_was_never_seen_no_loss_is_told),
        T(test_of_an_object_whose_add_was_kept_no_end_is_told),
        T(test_of_an_object_that_was_to_pass_the_filter_no_end_is_told),
        T(test_of_an_object_that_was_not_quiet_yet_no_end_is_told),
        T(test_events_that_are_taken_with_a_closed_fence_are_lost_ones),
        T(test_of_an_object_whose_add_waited_at_the_end_of_a_term_no_end_is_told),
        T(test_nor_if_the_turn_of_the_handler_comes_first),
        T(test_a_loss_that_waits_is_told_whatever_is_dropped_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
