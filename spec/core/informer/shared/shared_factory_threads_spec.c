/* core/informer/shared/shared.c and feed.c with the reflectors on a thread of their own: informers
 * come and go, handlers too, while events flow. Meant to run under ThreadSanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/small_catalogue.h"
#include "informer/shared/shared_factory.h"
#include "object/value/value.h"

enum { KEYS = 30, BURST = 40, TICKS = 20, ROUNDS = 25, HANDLERS = 4, CALLS_PER_ROUND = 3000 };

/* --- a source that never rests, on the I/O thread */

struct busy_source {
    struct list_watch base;
    struct clock *clock;
    struct jitter jitter;
    int64_t version;
    bool there[KEYS];
};

struct lw_call {
    struct busy_source *source;
    struct lw_sink sink;
    void *ctx;
    struct timer timer;
    int ticks;
};

static struct root *make(const struct busy_source *source, int key)
{
    char text[48];
    snprintf(text, sizeof text, "n%d/k%d@%lld", key % 3, key, (long long)source->version);
    return object(text);
}

static void finish(struct lw_call *call)
{
    call->sink.done(call->ctx, NULL);
    free(call);
}

static void answer_list(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    struct busy_source *source = call->source;
    for (int key = 0; key < KEYS; key++) {
        source->version++;
        source->there[key] = key % 2;
        if (key % 2) call->sink.item(call->ctx, make(source, key));
    }
    struct lw_list_meta meta = {STR("1000"), STR(""), -1, false, false};
    call->sink.list_end(call->ctx, &meta);
    finish(call);
}

static void send_event(struct lw_call *call)
{
    struct busy_source *source = call->source;
    int key = (int)jitter_between(&source->jitter, 0, KEYS);
    enum lw_event_type type = LW_ADDED;
    if (source->there[key]) type = jitter_next(&source->jitter) % 3 ? LW_MODIFIED : LW_DELETED;
    source->there[key] = type != LW_DELETED;
    source->version++;
    call->sink.event(call->ctx, type, make(source, key), 1);
}

static void tick(struct timer *timer)
{
    struct lw_call *call = container_of(timer, struct lw_call, timer);
    for (int i = 0; i < BURST; i++) send_event(call);
    objects_drain();
    if (++call->ticks == TICKS)
        finish(call);
    else
        timer_start(timer, call->source->clock, 0);
}

static struct lw_call *start(struct list_watch *base, const struct lw_options *options,
                             const struct lw_sink *sink, void *ctx)
{
    struct lw_call *call = NEW(struct lw_call);
    call->source = container_of(base, struct busy_source, base);
    call->sink = *sink;
    call->ctx = ctx;
    call->timer.fn = options->verb == LW_LIST ? answer_list : tick;
    timer_start(&call->timer, call->source->clock, 0);
    return call;
}

static void cancel(struct lw_call *call)
{
    timer_cancel(&call->timer);
    free(call);
}

static void free_source(struct list_watch *base)
{
    free(container_of(base, struct busy_source, base));
}

static struct list_watch *new_source(void *ctx, const struct resource *resource, const struct lw_scope *scope)
{
    static const struct list_watch_ops ops = {start, cancel, free_source, NULL, NULL, NULL};
    struct busy_source *source = NEW(struct busy_source);
    source->base.ops = &ops;
    source->clock = loop_clock(ctx);
    source->jitter.state = 3;
    return &source->base;
}

/* --- the engine's side */

struct replay {
    struct root *map[KEYS];
    struct claim_handler *handler;
    size_t calls;
};

static int key_of(const struct root *object)
{
    struct text text;
    struct str name = root_name(object, &text);
    uint64_t key;
    assert_true(str_to_u64((struct str){name.p + 1, name.n - 1}, &key));
    return (int)key;
}

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    struct replay *replay = ctx;
    assert_null(replay->map[key_of(object)]);
    replay->map[key_of(object)] = root_ref(object);
    replay->calls++;
}

static void on_update(void *ctx, struct root *before, struct root *after, const struct event_info *info)
{
    struct replay *replay = ctx;
    assert_ptr_equal(replay->map[key_of(after)], before);
    root_unref(before);
    replay->map[key_of(after)] = root_ref(after);
    replay->calls++;
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    struct replay *replay = ctx;
    assert_non_null(replay->map[key_of(last)]);
    root_unref(replay->map[key_of(last)]);
    replay->map[key_of(last)] = NULL;
    replay->calls++;
}

static void replay_start(struct replay *replay, struct informer_claim *claim)
{
    struct event_handler handler = {
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .ctx = replay};
    *replay = (struct replay){0};
    replay->handler = claim_add_handler(claim, &handler);
}

static void replay_stop(struct replay *replay)
{
    if (replay->handler) claim_remove_handler(replay->handler);
    for (int i = 0; i < KEYS; i++) root_unref(replay->map[i]);
    *replay = (struct replay){0};
}

static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err)
{
    fail_msg("%s", err->text);
}

static void on_changed(void *ctx, struct informer_claim *claim)
{
    struct claim_status status;
    claim_get_status(claim, &status);
}

/* One informer with handlers that come and go, another that ends before it has synced. */
static void play_round(struct shared_factory *factory, struct loop *loop, const struct catalogue *catalogue,
                       struct jitter *jitter)
{
    struct replay replays[HANDLERS] = {0};
    struct informer_claim *pods = shared_factory_claim(factory, &(struct informer_spec){.kind = "pods"});
    struct informer_claim *nodes = shared_factory_claim(factory, &(struct informer_spec){.kind = "nodes"});
    replay_start(&replays[0], pods);
    shared_factory_resolve(factory, catalogue, on_unknown, NULL);
    claim_release(nodes);
    while (replays[0].calls < CALLS_PER_ROUND) {
        loop_once(loop, true);
        struct replay *replay = &replays[jitter_between(jitter, 1, HANDLERS)];
        if (replay->handler)
            replay_stop(replay);
        else
            replay_start(replay, pods);
    }
    assert_true(claim_has_synced(pods));
    for (int key = 0; key < KEYS; key++) {
        struct root *told = replays[0].map[key];
        if (told) assert_ptr_equal(indexer_get_like(claim_indexer(pods), told), told);
    }
    for (int i = 0; i < HANDLERS; i++) replay_stop(&replays[i]);
    if (jitter_next(jitter) % 2) claim_release(pods);
}

static void *io_main(void *ctx)
{
    objects_adopt();
    loop_run(ctx);
    return NULL;
}

static void test_informers_and_handlers_come_and_go_while_events_flow(void **state)
{
    const char *seed_text = getenv("SEED");
    struct jitter jitter = {seed_text ? strtoull(seed_text, NULL, 10) : 77};
    pthread_t io;
    print_message("SEED=%llu\n", (unsigned long long)jitter.state);
    objects_open();
    struct loop *engine_loop = loop_new(), *io_loop = loop_new();
    struct catalogue *catalogue = small_catalogue(false);
    struct shared_factory *factory = shared_factory_new(&(struct shared_factory_options){
        .engine_loop = engine_loop,
        .io_loop = io_loop,
        .new_source = new_source,
        .ctx = io_loop,
        .seed = 1,
        .changed = on_changed,
    });
    pthread_create(&io, NULL, io_main, io_loop);
    for (int i = 0; i < ROUNDS; i++) play_round(factory, engine_loop, catalogue, &jitter);
    shared_factory_free(factory); /* with some still running */
    loop_stop(io_loop);
    pthread_join(io, NULL);
    catalogue_free(catalogue);
    loop_free(io_loop);
    loop_free(engine_loop);
    objects_adopt();
    objects_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_informers_and_handlers_come_and_go_while_events_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
