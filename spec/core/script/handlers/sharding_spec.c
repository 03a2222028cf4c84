/* core/script/handlers/sharding.c: calls for slots that another replica gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fence.h"
#include "core/script/support/sharing.h"
#include "informer/shared/shared_factory_internal.h"
#include "script/handlers/sharding.h"
#include "script/vm/task.h"

/* Calls for updates and losses take a second, one at a time. */
static const char slow[] = "k8s = require 'k8s' said = ''\n"
                           "local function work(o) k8s.sleep(1) said = said .. o:name() .. '; ' end\n"
                           "k8s.informer('pods', { shard = 'namespace' }):add_event_handler {\n"
                           "  OnUpdate = function(_, o) work(o) end, OnLost = work }\n";

/* A state of an object takes a second, its loss nothing. */
static const char counting[] =
    "k8s = require 'k8s' said = ''\n"
    "k8s.informer('pods', { shard = 'namespace' }):add_event_handler {\n"
    "  OnUpdate = function(_, o) said = said .. o:name() .. ' ' k8s.sleep(1) end,\n"
    "  OnAdd = function(o, ev) if ev.shard then said = said .. '+' .. o:name() .. ' ' end end,\n"
    "  OnLost = function(o) said = said .. '-' .. o:name() .. ' ' end }\n";

/* Is busy with an object of "mine", and then loses "shop". */
static void begin(struct sharing *s, struct cluster *c, struct fence *fence)
{
    sharing_load(s, c, slow, fence);
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=1"); /* its call is under way */
    sharing_give(s, fence, &s->mine);
}

static const struct task *waiting_task(const struct sharing *s)
{
    const struct task *task = TAILQ_FIRST(&s->script->tasks.waiting);
    assert_non_null(task);
    assert_null(TAILQ_NEXT(task, link));
    return task;
}

static void test_a_loss_that_no_call_was_told_of_yet_is_waited_for(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    begin(&s, c, fence);
    assert_true(sharding_owns(s.script, waiting_task(&s)->slot));
    assert_true(sharing_is_busy(&s)); /* two losses are pending */
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, s.script, "return said", "a; b; ");
    assert_false(sharding_owns(s.script, waiting_task(&s)->slot));
    assert_true(fence_is_open(waiting_task(&s)->fence)); /* nobody else has the slot yet */
    assert_true(sharing_is_busy(&s));
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, s.script, "return said", "a; b; c; ");
    assert_false(sharing_is_busy(&s));
    assert_true(fence_is_open(shards_fence(s.shards, shard_slot(STR("shop")))));
    shards_applied(s.shards, 1); /* others may have it now */
    assert_false(fence_is_open(shards_fence(s.shards, shard_slot(STR("shop")))));
    assert_true(fence_is_open(shards_fence(s.shards, shard_slot(STR("mine")))));
    sharing_end(&s);
    fence_unref(fence);
}

static void test_a_loss_of_an_earlier_term_gets_a_closed_fence(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c), *next = sharing_fence(c);
    begin(&s, c, fence);
    fence_close(fence);
    sharing_give(&s, next, &s.mine);
    assert_false(sharing_is_busy(&s)); /* its calls can write nothing */
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, s.script, "return said", ""); /* the call under way ended with its fence */
    assert_false(sharding_owns(s.script, waiting_task(&s)->slot));
    assert_false(fence_is_open(waiting_task(&s)->fence));
    sharing_end(&s);
    fence_unref(fence);
    fence_unref(next);
}

static void test_a_change_of_an_earlier_share_is_not_told_any_more(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, counting, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1"); /* its call is under way */
    cluster_event(c, 0, LW_MODIFIED, "shop/c x=1");
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=1");
    sharing_give(&s, fence, &s.mine);
    sharing_give(&s, fence, &s.both);
    virtual_clock_advance(&c->clock, 3000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "b a -b -c ");
    cluster_list(c, 1, "shop/b x=1;shop/c x=2");
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "b a -b -c +b +c ");
    sharing_end(&s);
    fence_unref(fence);
}

/* Nobody else had the slots when the fence closed, though the tables in between were not seen. */
static void test_slots_that_a_lease_kept_are_known(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct shards_status status;
    struct fence *fence = sharing_fence(c), *next = sharing_fence(c);
    sharing_load(&s, c, slow, fence);
    fence_close(fence);
    sharing_give(&s, NULL, &s.both);
    shards_get_status(s.shards, &status);
    assert_true(slot_set_equal(&status.kept, &s.both) && slot_set_is_empty(&status.slots));
    sharing_give(&s, NULL, &s.mine); /* the table takes one */
    sharing_give(&s, next, &s.both);
    shards_get_status(s.shards, &status);
    assert_true(slot_set_equal(&status.kept, &s.mine) && slot_set_equal(&status.slots, &s.both));
    s.lease = "another";
    sharing_give(&s, next, &s.both);
    shards_get_status(s.shards, &status);
    assert_true(slot_set_is_empty(&status.kept));
    sharing_end(&s);
    fence_unref(fence);
    fence_unref(next);
}

static const char keyed[] =
    "k8s = require 'k8s' said = ''\n"
    "local pods = k8s.informer('pods', { shard = 'namespace' })\n"
    "local keys = k8s.queue { name = 'keys', workers = 1 }\n"
    "pods:on_update(function(_, o) if o:namespace() == 'shop' then keys:add_after(o:key(), '1s') end end)\n"
    "keys:run(function(key) said = said .. key .. (pods:lister():get(key) and '; ' or ' is gone; ') end)\n";

static void test_a_key_of_a_slot_that_came_back_waits_for_its_list(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, keyed, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    sharing_give(&s, fence, &s.mine);
    sharing_give(&s, fence, &s.both);
    virtual_clock_advance(&c->clock, 5000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "");
    cluster_list(c, 1, "shop/b x=1;shop/c");
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "shop/b; ");
    sharing_end(&s);
    fence_unref(fence);
}

static void test_a_key_of_a_slot_that_another_one_has_is_dropped(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = sharing_fence(c);
    sharing_load(&s, c, keyed, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    sharing_give(&s, fence, &s.mine);
    virtual_clock_advance(&c->clock, 5000);
    cluster_settle(c);
    sharing_give(&s, fence, &s.both);
    cluster_list(c, 1, "shop/b x=1;shop/c");
    virtual_clock_advance(&c->clock, 5000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "");
    sharing_end(&s);
    fence_unref(fence);
}

static void test_events_of_a_kind_that_is_not_resolved_yet_have_a_slot(void **state)
{
    struct cluster *c = *state;
    c->factory->options.shares = true;
    struct script *script = cluster_load(c, "slow", slow);
    assert_int_equal(claim_shard(script_claim(script, 0)), SHARD_BY_NAMESPACE);
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, cluster_setup_by_hand, cluster_teardown)
        T(test_a_loss_that_no_call_was_told_of_yet_is_waited_for),
        T(test_a_loss_of_an_earlier_term_gets_a_closed_fence),
        T(test_a_change_of_an_earlier_share_is_not_told_any_more),
        T(test_slots_that_a_lease_kept_are_known),
        T(test_a_key_of_a_slot_that_came_back_waits_for_its_list),
        T(test_a_key_of_a_slot_that_another_one_has_is_dropped),
        T(test_events_of_a_kind_that_is_not_resolved_yet_have_a_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
