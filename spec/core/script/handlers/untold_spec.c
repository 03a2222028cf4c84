/* core/script/handlers/handler.c: what waited to be told of objects that another replica gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fence.h"
#include "core/script/support/sharing.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_of_a_delete_that_waits_the_loss_is_told),
        T(test_a_handler_without_on_lost_is_told_nothing_of_it),
        T(test_of_what_is_kept_and_would_be_a_delete_the_loss_is_told),
        T(test_a_filter_by_values_makes_losses_of_what_is_kept_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
