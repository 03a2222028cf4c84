/* core/script/handlers/sharding.c: calls for slots that another replica gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fence.h"
#include "core/script/support/cluster.h"
#include "informer/group/shards_internal.h"
#include "informer/shared/shared_factory_internal.h"
#include "script/handlers/handler.h"
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

/* As `slow`, but a loss takes nothing; objects with x=yes alone if it is `picky`. */
#define TELLING(filter)                                                              \
    "k8s = require 'k8s' said = ''\n"                                                \
    "k8s.informer('pods', { shard = 'namespace' }):add_event_handler { " filter "\n" \
    "  OnUpdate = function(_, o) said = said .. o:name() .. ' ' k8s.sleep(1) end,\n" \
    "  OnDelete = function(o) said = said .. 'deleted ' .. o:name() .. ' ' end,\n"   \
    "  OnLost = function(o, ev) said = said .. '-' .. o:name() .. '(' .. ev.shard .. ') ' end }\n"
static const char telling[] = TELLING(""),
                  picky[] = TELLING("filter = function(o) return o:label 'x' == 'yes' end,"),
                  picky_by_where[] = TELLING("where = { ['metadata.labels.x'] = 'yes' },");

struct sharing {
    struct cluster *cluster;
    struct shards *shards;
    struct script *script;
    struct slot_set mine, both; /* the slot of namespace "mine"; and that of "shop" too */
    struct slot_set owned;
    const char *lease; /* its name */
};

/* As the engine does it. */
static void on_changed(void *ctx)
{
    struct sharing *s = ctx;
    const struct slot_set owned = shards_owned(s->shards), lost = slot_set_minus(&s->owned, &owned);
    s->owned = owned;
    handlers_lose(s->script, &lost);
    shared_factory_set_slots(s->cluster->factory, &owned);
}

/* The I/O thread's half has news. */
static void give(struct sharing *s, struct fence *fence, const struct slot_set *slots)
{
    pthread_mutex_lock(&s->shards->lock);
    shards_news_clear(&s->shards->posted);
    s->shards->posted = (struct shards_news){.fence = fence ? fence_ref(fence) : NULL, .given = *slots};
    snprintf(s->shards->posted.lease, SHARD_NAME_MAX, "%s", s->lease ? s->lease : "one");
    s->shards->has_news = true;
    pthread_mutex_unlock(&s->shards->lock);
    waker_wake(s->shards->waker);
    cluster_settle(s->cluster);
}

static struct fence *new_fence(const struct sharing *s)
{
    return fence_new(&s->cluster->clock.clock, 1000000000);
}

/* Owns both namespaces under `fence`; the objects of both are listed. */
static void load(struct sharing *s, struct cluster *c, const char *text, struct fence *fence)
{
    c->factory->options.shares = true;
    s->cluster = c;
    s->shards = c->parts.shards = shards_new(&(struct shards_options){.engine_loop = c->loop,
                                                                      .io_loop = c->loop,
                                                                      .namespace_ = "default",
                                                                      .group = "team",
                                                                      .identity = "one",
                                                                      .changed = on_changed,
                                                                      .ctx = s});
    s->script = cluster_load(c, "slow", text);
    slot_set_add(&s->mine, shard_slot(STR("mine")));
    s->both = s->mine;
    slot_set_add(&s->both, shard_slot(STR("shop")));
    give(s, fence, &s->both);
    cluster_resolve(c);
    cluster_list(c, 0, "mine/a;shop/b;shop/c");
}

/* Is busy with an object of "mine", and then loses "shop". */
static void begin(struct sharing *s, struct cluster *c, struct fence *fence)
{
    load(s, c, slow, fence);
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=1"); /* its call is under way */
    give(s, fence, &s->mine);
}

static void end(struct sharing *s)
{
    script_free(s->script);
    s->cluster->parts.shards = NULL;
    shared_factory_free(s->cluster->factory);
    shards_free(s->shards);
    s->cluster->factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = s->cluster->loop, .io_loop = s->cluster->loop, .new_source = cluster_new_source});
}

static const struct task *waiting_task(const struct sharing *s)
{
    const struct task *task = TAILQ_FIRST(&s->script->tasks.waiting);
    assert_non_null(task);
    assert_null(TAILQ_NEXT(task, link));
    return task;
}

/* Calls for lost slots are under way, or to come. */
static bool is_busy(const struct sharing *s)
{
    return sharding_count_others(s->script) > 0 || handlers_have_lost(s->script);
}

static void test_a_loss_that_no_call_was_told_of_yet_is_waited_for(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = new_fence(&(struct sharing){.cluster = c});
    begin(&s, c, fence);
    assert_true(sharding_owns(s.script, waiting_task(&s)->slot));
    assert_true(is_busy(&s)); /* two losses are pending */
    virtual_clock_advance(&c->clock, 2000);
    assert_ask(c, s.script, "return said", "a; b; ");
    assert_false(sharding_owns(s.script, waiting_task(&s)->slot));
    assert_true(fence_is_open(waiting_task(&s)->fence)); /* nobody else has the slot yet */
    assert_true(is_busy(&s));
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, s.script, "return said", "a; b; c; ");
    assert_false(is_busy(&s));
    assert_true(fence_is_open(shards_fence(s.shards, shard_slot(STR("shop")))));
    shards_applied(s.shards, 1); /* others may have it now */
    assert_false(fence_is_open(shards_fence(s.shards, shard_slot(STR("shop")))));
    assert_true(fence_is_open(shards_fence(s.shards, shard_slot(STR("mine")))));
    end(&s);
    fence_unref(fence);
}

static void test_a_loss_of_an_earlier_term_gets_a_closed_fence(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = new_fence(&(struct sharing){.cluster = c}),
                 *next = new_fence(&(struct sharing){.cluster = c});
    begin(&s, c, fence);
    fence_close(fence);
    give(&s, next, &s.mine);
    assert_false(is_busy(&s)); /* its calls can write nothing */
    virtual_clock_advance(&c->clock, 1000);
    assert_ask(c, s.script, "return said", ""); /* the call under way ended with its fence */
    assert_false(sharding_owns(s.script, waiting_task(&s)->slot));
    assert_false(fence_is_open(waiting_task(&s)->fence));
    end(&s);
    fence_unref(fence);
    fence_unref(next);
}

static void test_a_change_of_an_earlier_share_is_not_told_any_more(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = new_fence(&(struct sharing){.cluster = c});
    load(&s, c, counting, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1"); /* its call is under way */
    cluster_event(c, 0, LW_MODIFIED, "shop/c x=1");
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=1");
    give(&s, fence, &s.mine);
    give(&s, fence, &s.both);
    virtual_clock_advance(&c->clock, 3000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "b a -b -c ");
    cluster_list(c, 1, "shop/b x=1;shop/c x=2");
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "b a -b -c +b +c ");
    end(&s);
    fence_unref(fence);
}

/* No cache has it any more that would tell of its loss. */
static void test_of_a_delete_that_waits_the_loss_is_told(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = new_fence(&(struct sharing){.cluster = c});
    load(&s, c, telling, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1"); /* its call is under way */
    cluster_event(c, 0, LW_DELETED, "shop/c");
    cluster_event(c, 0, LW_DELETED, "mine/a");
    give(&s, fence, &s.mine);
    assert_true(is_busy(&s));
    give(&s, fence, &s.both);
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "b -c(lost) deleted a -b(lost) ");
    assert_false(is_busy(&s));
    end(&s);
    fence_unref(fence);
}

static void test_a_handler_without_on_lost_is_told_nothing_of_it(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = new_fence(&(struct sharing){.cluster = c});
    load(&s, c,
         "k8s = require 'k8s' said = ''\n"
         "local pods = k8s.informer('pods', { shard = 'namespace' })\n"
         "pods:add_event_handler { OnUpdate = function(_, o) k8s.sleep(1) end,\n"
         "  OnDelete = function(o) said = said .. o:name() .. ' ' end }",
         fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    cluster_event(c, 0, LW_DELETED, "shop/c");
    cluster_event(c, 0, LW_DELETED, "mine/a");
    give(&s, fence, &s.mine);
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "a ");
    end(&s);
    fence_unref(fence);
}

/* An object that left the filter, and one that is gone; neither is told of by the cache. */
static void lose_kept(struct cluster *c, const char *text, const char *says)
{
    struct sharing s = {0};
    struct fence *fence = new_fence(&(struct sharing){.cluster = c});
    load(&s, c, text, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=yes");
    cluster_event(c, 0, LW_MODIFIED, "shop/c x=yes");
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=yes");
    s.script->turn.ticks = 100; /* it has used up its time */
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=no");
    cluster_event(c, 0, LW_MODIFIED, "mine/a x=no");
    cluster_event(c, 0, LW_DELETED, "shop/c x=yes");
    give(&s, fence, &s.mine);
    assert_true(is_busy(&s));
    assert_ask(c, s.script, "return said", "");
    give(&s, fence, &s.both);
    virtual_clock_advance(&c->clock, 0);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", says);
    assert_false(is_busy(&s));
    end(&s);
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

/* Nobody else had the slots when the fence closed, though the tables in between were not seen. */
static void test_slots_that_a_lease_kept_are_known(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct shards_status status;
    struct fence *fence = new_fence(&(struct sharing){.cluster = c}),
                 *next = new_fence(&(struct sharing){.cluster = c});
    load(&s, c, slow, fence);
    fence_close(fence);
    give(&s, NULL, &s.both);
    shards_get_status(s.shards, &status);
    assert_true(slot_set_equal(&status.kept, &s.both) && slot_set_is_empty(&status.slots));
    give(&s, NULL, &s.mine); /* the table takes one */
    give(&s, next, &s.both);
    shards_get_status(s.shards, &status);
    assert_true(slot_set_equal(&status.kept, &s.mine) && slot_set_equal(&status.slots, &s.both));
    s.lease = "another";
    give(&s, next, &s.both);
    shards_get_status(s.shards, &status);
    assert_true(slot_set_is_empty(&status.kept));
    end(&s);
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
    struct fence *fence = new_fence(&(struct sharing){.cluster = c});
    load(&s, c, keyed, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    give(&s, fence, &s.mine);
    give(&s, fence, &s.both);
    virtual_clock_advance(&c->clock, 5000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "");
    cluster_list(c, 1, "shop/b x=1;shop/c");
    virtual_clock_advance(&c->clock, 1000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "shop/b; ");
    end(&s);
    fence_unref(fence);
}

static void test_a_key_of_a_slot_that_another_one_has_is_dropped(void **state)
{
    struct cluster *c = *state;
    struct sharing s = {0};
    struct fence *fence = new_fence(&(struct sharing){.cluster = c});
    load(&s, c, keyed, fence);
    cluster_event(c, 0, LW_MODIFIED, "shop/b x=1");
    give(&s, fence, &s.mine);
    virtual_clock_advance(&c->clock, 5000);
    cluster_settle(c);
    give(&s, fence, &s.both);
    cluster_list(c, 1, "shop/b x=1;shop/c");
    virtual_clock_advance(&c->clock, 5000);
    cluster_settle(c);
    assert_ask(c, s.script, "return said", "");
    end(&s);
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
        T(test_of_a_delete_that_waits_the_loss_is_told),
        T(test_a_handler_without_on_lost_is_told_nothing_of_it),
        T(test_of_what_is_kept_and_would_be_a_delete_the_loss_is_told),
        T(test_a_filter_by_values_makes_losses_of_what_is_kept_too),
        T(test_slots_that_a_lease_kept_are_known),
        T(test_a_key_of_a_slot_that_came_back_waits_for_its_list),
        T(test_a_key_of_a_slot_that_another_one_has_is_dropped),
        T(test_events_of_a_kind_that_is_not_resolved_yet_have_a_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
