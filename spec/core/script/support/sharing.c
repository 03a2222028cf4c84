/* A replica of a group; see sharing.h. */
#include "core/script/support/sharing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fence.h"
#include "informer/group/shards_internal.h"
#include "informer/shared/shared_factory_internal.h"
#include "script/handlers/handler.h"
#include "script/handlers/sharding.h"

/* As the engine does it. */
static void on_changed(void *ctx)
{
    struct sharing *s = ctx;
    const struct slot_set owned = shards_owned(s->shards), lost = slot_set_minus(&s->owned, &owned);
    s->owned = owned;
    handlers_lose(s->script, &lost);
    shared_factory_set_slots(s->cluster->factory, &owned);
}

void sharing_give(struct sharing *s, struct fence *fence, const struct slot_set *slots)
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

struct fence *sharing_fence(struct cluster *c)
{
    return fence_new(&c->clock.clock, 1000000000);
}

void sharing_load(struct sharing *s, struct cluster *c, const char *text, struct fence *fence)
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
    sharing_give(s, fence, &s->both);
    cluster_resolve(c);
    cluster_list(c, 0, "mine/a;shop/b;shop/c");
}

void sharing_end(struct sharing *s)
{
    script_free(s->script);
    s->cluster->parts.shards = NULL;
    shared_factory_free(s->cluster->factory);
    shards_free(s->shards);
    s->cluster->factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = s->cluster->loop, .io_loop = s->cluster->loop, .new_source = cluster_new_source});
}

bool sharing_is_busy(const struct sharing *s)
{
    return sharding_count_others(s->script) > 0 || handlers_have_lost(s->script);
}
