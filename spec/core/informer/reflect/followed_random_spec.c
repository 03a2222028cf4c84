/* core/informer/reflect/followed.c with reflector, queue, store and handlers, against a server that changes,
 * compacts, lags behind and fails at random while namespaces join and leave: when it stops failing, the cache
 * is what the server has in the namespaces that are followed, and so are the calls of each handler, replayed
 * onto an empty map. SEED picks the first run, RUNS how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/mem.h"
#include "core/informer/support/fake_server.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/replay.h"
#include "core/informer/support/runs.h"
#include "informer/reflect/followed.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/shared_informer.h"

enum { HANDLERS = 3, NAMESPACES = 3, SETTLED_MS = 1000000 };

struct run {
    struct virtual_clock clock;
    struct fake_server server;
    struct shared_informer *informer;
    struct followed *followed;
    struct reflector *reflector, **finished; /* the latter of single namespaces */
    size_t finished_count;
    int page_size; /* of these */
    struct jitter jitter;
    bool in[NAMESPACES];
    int64_t slow;                     /* one step of so many is one of the consumer */
    struct replay handlers[HANDLERS]; /* the first is there from the start to the end */
};

static struct {
    size_t calls, joins, leaves, lists, watches, coalesced, compared;
} total;

static int64_t dice(struct run *run, int64_t from, int64_t to)
{
    return jitter_between(&run->jitter, from, to);
}

static void on_listed(void *ctx, struct collection *objects, struct str version)
{
    followed_listed(ctx, objects, version);
}

/* The server sends all namespaces, and none but this one is taken of it. */
static void *start_list(void *ctx, struct followed_namespace *joining, const char *ns)
{
    struct run *run = ctx;
    struct reflector *reflector = reflector_new(&(struct reflector_options){
        .name = ns,
        .source = &run->server.base,
        .clock = &run->clock.clock,
        .seed = jitter_next(&run->jitter),
        .tuning = {.page_size = run->page_size},
        .listed = on_listed,
        .ctx = joining,
    });
    reflector_start(reflector);
    return reflector;
}

static void end_list(void *ctx, void *list)
{
    struct run *run = ctx;
    reflector_stop(list);
    *array_add(run->finished, run->finished_count) = list;
}

static void relist(void *ctx)
{
    reflector_relist(((struct run *)ctx)->reflector);
}

static void on_changed(void *ctx) {}

static void toggle_namespace(struct run *run)
{
    int i = (int)dice(run, 0, NAMESPACES);
    char name[8];
    snprintf(name, sizeof name, "n%d", i);
    run->in[i] = !run->in[i];
    *(run->in[i] ? &total.joins : &total.leaves) += 1;
    (run->in[i] ? followed_join : followed_leave)(run->followed, name);
}

static void toggle_handler(struct run *run)
{
    struct replay *replay = &run->handlers[dice(run, 1, HANDLERS)];
    if (replay->registration)
        replay_stop(replay);
    else
        replay_start(replay, run->informer);
}

static void begin_server(struct run *run)
{
    struct fake_server *server = &run->server;
    for (int64_t i = dice(run, 1, 30); i > 0; i--) fake_server_change(server);
    server->fault_percent = (int)dice(run, 0, 40);
    server->silent_percent = dice(run, 0, 3) ? 0 : (int)dice(run, 1, 30);
    server->ignores_initial_events = !dice(run, 0, 6);
}

static void begin(struct run *run, uint64_t seed)
{
    *run = (struct run){.jitter = {seed}};
    virtual_clock_init(&run->clock);
    struct list_watch *source = fake_server_init(&run->server, &run->clock.clock, seed ^ 0x5eed);
    run->informer = shared_informer_new("random", NULL, NULL);
    shared_informer_set_clock(run->informer, &run->clock.clock);
    begin_server(run);
    for (int i = 0; i < HANDLERS; i++) {
        run->handlers[i].returning = true;
        run->handlers[i].config =
            (struct replay_wish){.web_only = !dice(run, 0, 3), .split_recreated = dice(run, 0, 2)};
    }
    run->slow = dice(run, 0, 2) ? 1 : dice(run, 5, 30);
    if (run->slow > 1) delta_fifo_set_mark(shared_informer_fifo(run->informer), (size_t)dice(run, 1, 20));
    replay_start(&run->handlers[0], run->informer);
    run->page_size = dice(run, 0, 2) ? 0 : (int)dice(run, 1, 6);
    run->followed = followed_new(&(struct followed_options){
        .name = "random",
        .fifo = shared_informer_fifo(run->informer),
        .clock = &run->clock.clock,
        .start_list = start_list,
        .end_list = end_list,
        .relist = relist,
        .changed = on_changed,
        .ctx = run,
    });
    if (dice(run, 0, 2)) toggle_namespace(run);
    run->reflector = reflector_new(&(struct reflector_options){
        .name = "random",
        .source = source,
        .fifo = shared_informer_fifo(run->informer),
        .clock = &run->clock.clock,
        .seed = seed,
        .followed = run->followed,
        .tuning = {.watch_list = dice(run, 0, 2) ? WATCH_LIST_OFF : WATCH_LIST_ON,
                   .page_size = dice(run, 0, 2) ? 0 : (int)dice(run, 1, 6)},
    });
    reflector_start(run->reflector);
}

/* Once everything that was queued is processed, nothing is left of a namespace that is not followed. */
static void check_left(struct run *run)
{
    if (shared_informer_has_work(run->informer)) return;
    for (int i = 0; i < NAMESPACES; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        if (run->in[i]) continue;
        assert_int_equal(indexer_namespace_count(shared_informer_indexer(run->informer), str_of(name)), 0);
    }
}

/* Mostly so short that a list is under way. */
static int64_t choose_pause(struct run *run)
{
    switch (dice(run, 0, 10)) {
    case 0: return dice(run, 1000, 700000);
    case 1:
    case 2: return dice(run, 0, 1500);
    default: return dice(run, 0, 80);
    }
}

static void step(struct run *run)
{
    for (int64_t i = dice(run, 0, 4); i > 0; i--) fake_server_change(&run->server);
    if (!dice(run, 0, 8)) fake_server_compact(&run->server);
    if (!dice(run, 0, 40)) fake_server_expire(&run->server);
    if (!dice(run, 0, 10)) run->server.lag = dice(run, 0, 2) ? 0 : dice(run, 1, 10);
    if (!dice(run, 0, 3)) toggle_namespace(run);
    virtual_clock_advance(&run->clock, choose_pause(run));
    if (!dice(run, 0, 5)) toggle_namespace(run);
    if (!dice(run, 0, run->slow)) shared_informer_process(run->informer, (size_t)dice(run, 1, 20));
    check_left(run);
    if (!dice(run, 0, 20)) toggle_handler(run);
}

static void settle(struct run *run)
{
    struct reflector_status status;
    run->server.fault_percent = run->server.silent_percent = 0;
    run->server.lag = 0;
    virtual_clock_advance(&run->clock, SETTLED_MS);
    while (shared_informer_process(run->informer, 1000) > 0) {}
    reflector_get_status(run->reflector, &status);
    assert_int_equal(status.state, REFLECTOR_WATCHING);
    assert_int_equal(followed_count(run->followed).followed, run->in[0] + run->in[1] + run->in[2]);
    assert_int_equal(followed_count(run->followed).joining, 0);
    assert_true(shared_informer_has_synced(run->informer));
}

static void compare(struct run *run)
{
    struct root *state[FAKE_KEYS];
    struct indexer *store = shared_informer_indexer(run->informer);
    size_t count = 0;
    fake_server_state(&run->server, fake_server_version(&run->server), state);
    for (int key = 0; key < FAKE_KEYS; key++) {
        if (!run->in[key % NAMESPACES]) state[key] = NULL;
        if (!state[key]) continue;
        assert_ptr_equal(indexer_get_like(store, state[key]), state[key]);
        count++;
    }
    assert_int_equal(indexer_count(store), count);
    for (int i = 0; i < HANDLERS; i++)
        if (run->handlers[i].registration) replay_compare(&run->handlers[i], state);
    total.compared += count;
}

static void end(struct run *run)
{
    reflector_free(run->reflector);
    followed_stop(run->followed);
    followed_free(run->followed);
    for (size_t i = 0; i < run->finished_count; i++) reflector_free(run->finished[i]);
    free(run->finished);
    for (int i = 0; i < HANDLERS; i++) {
        total.calls += run->handlers[i].calls;
        total.coalesced += run->handlers[i].coalesced_calls;
        replay_stop(&run->handlers[i]);
    }
    total.lists += run->server.lists;
    total.watches += run->server.watches;
    shared_informer_free(run->informer);
    fake_server_clear(&run->server);
    assert_int_equal(clock_next_due_ms(&run->clock.clock), INT64_MAX);
    virtual_clock_clear(&run->clock);
    log_take();
}

static void play(uint64_t seed)
{
    struct run run;
    begin(&run, seed);
    for (int64_t i = dice(&run, 10, 120); i > 0; i--) step(&run);
    settle(&run);
    compare(&run);
    end(&run);
}

static int open_pool(void **state)
{
    objects_open();
    return 0;
}

static int close_pool(void **state)
{
    if (!runs_failed()) objects_close();
    return 0;
}

static void test_after_random_joins_leaves_and_faults_cache_and_handlers_agree_with_the_server(void **state)
{
    runs_play(play, 2000);
    print_message(
        "%zu calls, %zu coalesced, %zu joins, %zu leaves, %zu list requests, %zu watches, %zu objects "
        "compared\n",
        total.calls, total.coalesced, total.joins, total.leaves, total.lists, total.watches, total.compared);
    assert_true(total.calls > 0 && total.joins > 0 && total.leaves > 0 && total.compared > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_after_random_joins_leaves_and_faults_cache_and_handlers_agree_with_the_server, open_pool,
            close_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
