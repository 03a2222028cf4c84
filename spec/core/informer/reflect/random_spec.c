/* Reflector, queue, store and handlers together against a server that changes, compacts, lags behind and
 * fails at random: when it stops failing, the cache is the server's state, and what each handler was told,
 * replayed onto an empty map, is the same. SEED picks the first run, RUNS how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/fake_server.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/replay.h"
#include "core/informer/support/runs.h"
#include "informer/reflect/reflector.h"
#include "informer/reflect/watch_list_memory.h"
#include "informer/shared/shared_informer.h"

enum {
    HANDLERS = 4,
    SILENCE_MS = 640000,
    DEADLINE_MS = 30000, /* of an end mark (B-1) */
};

struct run {
    struct virtual_clock clock;
    struct fake_server server;
    struct shared_informer *informer;
    struct reflector *reflector;
    struct watch_list_memory *memory;
    struct jitter jitter, meddling;
    int slow;    /* one step of so many is one of the consumer; 0: most are */
    size_t mark; /* of the queue, when it is slow */
    struct replay
        handlers[HANDLERS]; /* the first is there from the start to the end, the others come and go */
};

/* What all runs did together. */
static struct {
    size_t calls, lists, watches, watch_lists, refusals, meddlings;
    size_t unchanged, resyncs, filtered, recreated, coalesced; /* of the calls */
    uint64_t digest;
} total;

static int64_t dice(struct run *run, int64_t from, int64_t to)
{
    return jitter_between(&run->jitter, from, to);
}

static void toggle(struct run *run, struct replay *replay)
{
    if (replay->registration)
        replay_stop(replay);
    else
        replay_start(replay, run->informer);
}

static struct replay *any_but_first(struct run *run, struct jitter *jitter)
{
    return &run->handlers[jitter_between(jitter, 1, HANDLERS)];
}

/* From inside a handler: handlers come and go, itself maybe. */
static void meddle(void *ctx)
{
    struct run *run = ctx;
    if (jitter_between(&run->meddling, 0, 40)) return;
    toggle(run, any_but_first(run, &run->meddling));
    total.meddlings++;
}

static void begin_server(struct run *run)
{
    struct fake_server *server = &run->server;
    for (int64_t i = dice(run, 1, 30); i > 0; i--) fake_server_change(server);
    server->fault_percent = (int)dice(run, 0, 40);
    server->refuse_percent = dice(run, 0, 3) ? 0 : (int)dice(run, 1, 30);
    server->refuse_nameless = dice(run, 0, 2);
    server->silent_percent = dice(run, 0, 3) ? 0 : (int)dice(run, 1, 30);
    server->ignores_initial_events = !dice(run, 0, 6); /* both for ever: B-1 has to find it out */
    server->no_end_bookmark = !dice(run, 0, 6);
}

static void begin_handler(struct run *run, struct replay *replay)
{
    replay->meddle = meddle;
    replay->ctx = run;
    replay->blind = run->server.refuse_percent > 0;
    replay->config = (struct replay_wish){
        .web_only = !dice(run, 0, 3),
        .even_only = !dice(run, 0, 3),
        .unchanged = !dice(run, 0, 3),
        .split_recreated = dice(run, 0, 2),
        .resync_ms = dice(run, 0, 3) ? 0 : dice(run, 1000, 100000),
    };
}

/* A consumer that rarely comes, and a queue that compresses soon. */
static void begin_slow(struct run *run)
{
    run->slow = (int)dice(run, 5, 30);
    run->mark = (size_t)dice(run, 1, 20);
    delta_fifo_set_mark(shared_informer_fifo(run->informer), run->mark);
}

static void begin(struct run *run, uint64_t seed)
{
    *run = (struct run){.jitter = {seed}, .meddling = {~seed}};
    virtual_clock_init(&run->clock);
    struct list_watch *source = fake_server_init(&run->server, &run->clock.clock, seed ^ 0x5eed);
    run->informer = shared_informer_new("random", NULL, NULL);
    shared_informer_set_clock(run->informer, &run->clock.clock);
    begin_server(run);
    for (int i = 0; i < HANDLERS; i++) begin_handler(run, &run->handlers[i]);
    if (!dice(run, 0, 3)) begin_slow(run);
    replay_start(&run->handlers[0], run->informer);
    run->memory = watch_list_memory_new();
    run->reflector = reflector_new(&(struct reflector_options){
        .name = "random",
        .source = source,
        .fifo = shared_informer_fifo(run->informer),
        .clock = &run->clock.clock,
        .seed = seed,
        .memory = run->memory,
        .tuning = {.watch_list = (enum watch_list_mode)dice(run, WATCH_LIST_OFF, WATCH_LIST_ON + 1),
                   .internal_error_window_ms = dice(run, 0, 2) ? 0 : 10000,
                   .page_size = dice(run, 0, 2) ? 0 : (int)dice(run, 1, 6)},
    });
    reflector_start(run->reflector);
}

static int64_t choose_pause(struct run *run)
{
    switch (dice(run, 0, 10)) {
    case 0: return dice(run, 1000, 60000);
    case 1: return dice(run, 60000, 700000);
    default: return dice(run, 0, 1500);
    }
}

/* Above the mark there is one delta for each key, beside those that the consumer has begun with, a list, a
 * resync, a bookmark. */
static void check_bound(struct run *run)
{
    size_t waiting = delta_fifo_len(shared_informer_fifo(run->informer));
    if (run->slow) assert_in_range(waiting, 0, 2 * (run->mark + FAKE_KEYS + 4));
}

static void step(struct run *run)
{
    for (int64_t i = dice(run, 0, 4); i > 0; i--) fake_server_change(&run->server);
    if (!dice(run, 0, 8)) fake_server_compact(&run->server);
    if (!dice(run, 0, 40)) fake_server_expire(&run->server);
    if (!dice(run, 0, 10)) run->server.lag = dice(run, 0, 2) ? 0 : dice(run, 1, 10);
    virtual_clock_advance(&run->clock, choose_pause(run));
    if (run->slow ? !dice(run, 0, run->slow) : dice(run, 0, 3) > 0)
        shared_informer_process(run->informer, (size_t)dice(run, 1, 20));
    check_bound(run);
    if (!dice(run, 0, 20)) toggle(run, any_but_first(run, &run->jitter));
}

static void compare(struct run *run)
{
    struct root *state[FAKE_KEYS];
    struct indexer *store = shared_informer_indexer(run->informer);
    size_t count = 0;
    fake_server_state(&run->server, fake_server_version(&run->server), state);
    for (int i = 0; i < HANDLERS; i++)
        if (run->handlers[i].registration) replay_compare(&run->handlers[i], state);
    for (int key = 0; key < FAKE_KEYS; key++) {
        if (!state[key]) continue;
        assert_ptr_equal(indexer_get_like(store, state[key]), state[key]);
        count++;
    }
    assert_int_equal(indexer_count(store), count);
    assert_int_equal(indexer_namespace_count(store, STR("n0")) + indexer_namespace_count(store, STR("n1")) +
                         indexer_namespace_count(store, STR("n2")),
                     count);
}

/* What was refused comes back with its next version or with the next list. After a list with an object whose
 * name is not known, nothing counts as deleted until the next one. */
static void heal(struct run *run)
{
    struct fake_server *server = &run->server;
    server->fault_percent = server->silent_percent = server->refuse_percent = 0;
    server->lag = 0;
    if (!server->refusals) return;
    if (server->nameless || dice(run, 0, 2))
        fake_server_expire(server);
    else
        fake_server_touch_all(server);
}

/* Without faults everything settles, and asks for little while it does. */
static void settle(struct run *run)
{
    struct reflector_status status;
    bool silent = run->server.silent_percent > 0;
    heal(run);
    virtual_clock_advance(&run->clock, 70000 + DEADLINE_MS + (silent ? SILENCE_MS : 0));
    size_t lists = run->server.lists, watches = run->server.watches;
    virtual_clock_advance(&run->clock, 200000);
    assert_in_range(run->server.lists - lists, 0, FAKE_KEYS + 3);
    assert_in_range(run->server.watches - watches, 0, 3);
    while (shared_informer_process(run->informer, 1000) > 0) {}
    reflector_get_status(run->reflector, &status);
    assert_int_equal(status.state, REFLECTOR_WATCHING);
    assert_int_equal(status.last_error.code, ERR_NONE);
    assert_string_equal(indexer_resource_version(shared_informer_indexer(run->informer)),
                        status.resource_version); /* S-10 */
    assert_true(shared_informer_has_synced(run->informer));
    assert_true(registration_has_synced(run->handlers[0].registration));
}

static void end_handler(struct replay *replay)
{
    total.calls += replay->calls;
    total.unchanged += replay->unchanged_calls;
    total.resyncs += replay->resync_calls;
    total.filtered += replay->filtered_calls;
    total.recreated += replay->recreated_calls;
    total.coalesced += replay->coalesced_calls;
    total.digest = total.digest * 31 + replay->digest;
    replay_stop(replay);
}

static void end(struct run *run)
{
    reflector_free(run->reflector);
    watch_list_memory_free(run->memory);
    for (int i = 0; i < HANDLERS; i++) end_handler(&run->handlers[i]);
    total.lists += run->server.lists;
    total.watches += run->server.watches;
    total.watch_lists += run->server.watch_lists;
    total.refusals += run->server.refusals;
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
    for (int64_t i = dice(&run, 10, 80); i > 0; i--) step(&run);
    settle(&run);
    compare(&run);
    end(&run);
}

static void test_after_random_faults_cache_and_handlers_agree_with_the_server(void **state)
{
    runs_play(play, 3000);
    print_message("%zu calls, %zu list requests, %zu watches, %zu watch-lists, %zu refused objects, %zu "
                  "handlers moved by others\n",
                  total.calls, total.lists, total.watches, total.watch_lists, total.refusals,
                  total.meddlings);
    print_message(
        "of the calls %zu by filters, %zu unchanged, %zu resyncs, %zu of recreated objects, %zu coalesced\n",
        total.filtered, total.unchanged, total.resyncs, total.recreated, total.coalesced);
    assert_true(total.filtered > 0 && total.unchanged > 0 && total.recreated > 0 && total.resyncs > 0);
    assert_true(total.coalesced > 0);
    assert_true(total.calls > 0 && total.lists > 0 && total.watches > 0 && total.watch_lists > 0);
}

/* B-9 */
static void test_the_same_seed_delivers_the_same_events_in_the_same_order(void **state)
{
    uint64_t digests[2];
    for (int again = 0; again < 2; again++) {
        total.digest = 0;
        runs_play(play, 100);
        digests[again] = total.digest;
    }
    assert_int_equal(digests[0], digests[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_after_random_faults_cache_and_handlers_agree_with_the_server,
                                        runs_open_objects, runs_close_objects),
        cmocka_unit_test_setup_teardown(test_the_same_seed_delivers_the_same_events_in_the_same_order,
                                        runs_open_objects, runs_close_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
