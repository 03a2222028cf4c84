/* core/informer/reflect/gains.c with reflector, queue, cache and handlers, against a server that changes,
 * compacts, lags behind and fails at random while slots are gained and lost: when it stops failing, the cache
 * is what the server has in the slots that are owned, and so are the calls of each handler, replayed onto an
 * empty map. SEED picks the first run, RUNS how many. */
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
#include "informer/reflect/gains.h"
#include "informer/reflect/reflector.h"
#include "informer/shared/ranges.h"
#include "informer/shared/shared_informer.h"

enum { HANDLERS = 3, PARTS = 4, SETTLED_MS = 1000000 };

struct run {
    struct virtual_clock clock;
    struct fake_server server;
    struct shared_informer *informer;
    struct shard_filter filter, gained;
    struct gains *gains;
    int64_t generation;
    struct reflector *reflector, **finished; /* the latter of gained slots */
    size_t finished_count;
    int page_size; /* of these */
    struct jitter jitter;
    bool in[PARTS]; /* of the hash space: they are owned */
    uint64_t seed;
    bool watch_lists;
    int64_t slow;                     /* one step of so many is one of the consumer */
    struct replay handlers[HANDLERS]; /* the first is there from the start to the end */
};

static struct {
    size_t calls, gains, losses, alone, lists, watches, coalesced, compared;
} total;

static int64_t dice(struct run *run, int64_t from, int64_t to)
{
    return jitter_between(&run->jitter, from, to);
}

static void on_listed(void *ctx, struct collection *objects, struct str version)
{
    gains_listed(ctx, objects, version);
}

/* The server sends all slots. */
static void *start_list(void *ctx, const struct slot_set *slots)
{
    struct run *run = ctx;
    run->gained.slots = *slots;
    struct reflector *reflector = reflector_new(&(struct reflector_options){
        .name = "gained",
        .source = &run->server.base,
        .clock = &run->clock.clock,
        .seed = jitter_next(&run->jitter),
        .tuning = {.page_size = run->page_size},
        .shard = &run->gained,
        .listed = on_listed,
        .ctx = run->gains,
    });
    total.alone++;
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

static void start_reflector(struct run *run)
{
    run->reflector = reflector_new(&(struct reflector_options){
        .name = "random",
        .source = &run->server.base,
        .fifo = shared_informer_fifo(run->informer),
        .clock = &run->clock.clock,
        .seed = jitter_next(&run->jitter),
        .shard = &run->filter,
        .gains = run->gains,
        .tuning = {.watch_list = run->watch_lists ? WATCH_LIST_ON : WATCH_LIST_OFF,
                   .page_size = run->page_size},
    });
    reflector_start(run->reflector);
}

/* As feed_shard.c does it. */
static void gain(struct run *run, const struct slot_set *missing)
{
    if (reflector_rewatch(run->reflector)) {
        gains_list(run->gains, missing);
        return;
    }
    gains_reset(run->gains);
    reflector_relist_newest(run->reflector);
}

static void set_slots(struct run *run)
{
    struct ranges *ranges = shared_informer_ranges(run->informer);
    struct slot_set slots = {0};
    for (size_t i = 0; i < PARTS; i++)
        if (run->in[i]) slot_set_add_run(&slots, i * SHARD_SLOTS / PARTS, (i + 1) * SHARD_SLOTS / PARTS);
    ranges_set(ranges, &slots);
    const struct slot_set missing = slot_set_minus(&ranges->owned, &ranges->listed);
    bool gained = ranges->generation != run->generation;
    run->filter.slots = slots;
    run->generation = ranges->generation;
    delta_fifo_set_generation(shared_informer_fifo(run->informer), run->generation);
    if (slot_set_is_empty(&slots)) {
        gains_reset(run->gains);
        reflector_free(run->reflector);
        run->reflector = NULL;
    } else if (!run->reflector) {
        start_reflector(run);
    } else if (gained) {
        gain(run, &missing);
    } else {
        gains_keep(run->gains, &slots);
    }
}

static void toggle_part(struct run *run)
{
    int i = (int)dice(run, 0, PARTS);
    run->in[i] = !run->in[i];
    *(run->in[i] ? &total.gains : &total.losses) += 1;
    set_slots(run);
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
    fake_server_init(&run->server, &run->clock.clock, seed ^ 0x5eed);
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
    run->watch_lists = dice(run, 0, 2);
    shared_informer_share(run->informer, SHARD_BY_UID);
    shard_filter_init(&run->filter, SHARD_BY_UID);
    shard_filter_init(&run->gained, SHARD_BY_UID);
    run->gains = gains_new(&(struct gains_options){
        .name = "random",
        .by = SHARD_BY_UID,
        .fifo = shared_informer_fifo(run->informer),
        .clock = &run->clock.clock,
        .start_list = start_list,
        .end_list = end_list,
        .relist = relist,
        .ctx = run,
    });
    toggle_part(run);
}

static bool is_owned(const struct run *run, const struct root *object)
{
    return run->in[shard_slot_of(SHARD_BY_UID, object) * PARTS / SHARD_SLOTS];
}

static bool check_owned(void *ctx, struct root *object)
{
    assert_true(is_owned(ctx, object));
    return true;
}

/* Once everything that was queued is processed, nothing is left of others. */
static void check_left(struct run *run)
{
    if (shared_informer_has_work(run->informer)) return;
    indexer_each(shared_informer_indexer(run->informer), check_owned, run);
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
    if (!dice(run, 0, 3)) toggle_part(run);
    virtual_clock_advance(&run->clock, choose_pause(run));
    if (!dice(run, 0, 5)) toggle_part(run);
    if (!dice(run, 0, run->slow)) shared_informer_process(run->informer, (size_t)dice(run, 1, 20));
    check_left(run);
    if (!dice(run, 0, 20)) toggle_handler(run);
}

static void settle(struct run *run)
{
    struct reflector_status status;
    run->server.fault_percent = run->server.silent_percent = 0;
    run->server.lag = 0;
    if (!run->reflector) toggle_part(run);
    virtual_clock_advance(&run->clock, SETTLED_MS);
    while (shared_informer_process(run->informer, 1000) > 0) {}
    reflector_get_status(run->reflector, &status);
    assert_int_equal(status.state, REFLECTOR_WATCHING);
    const struct ranges *ranges = shared_informer_ranges(run->informer);
    assert_true(slot_set_equal(&ranges->listed, &ranges->owned));
    assert_true(shared_informer_has_synced(run->informer));
}

static void compare(struct run *run)
{
    struct root *state[FAKE_KEYS];
    struct indexer *store = shared_informer_indexer(run->informer);
    size_t count = 0;
    fake_server_state(&run->server, fake_server_version(&run->server), state);
    for (int key = 0; key < FAKE_KEYS; key++) {
        if (state[key] && !is_owned(run, state[key])) state[key] = NULL;
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
    gains_free(run->gains);
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

static void test_after_random_gains_losses_and_faults_cache_and_handlers_agree_with_the_server(void **state)
{
    runs_play(play, 2000);
    print_message(
        "%zu calls, %zu coalesced, %zu gains, %zu losses, %zu lists of gained slots, %zu list requests, %zu "
        "watches, %zu objects compared\n",
        total.calls, total.coalesced, total.gains, total.losses, total.alone, total.lists, total.watches,
        total.compared);
    assert_true(total.calls > 0 && total.gains > 0 && total.alone > 0 && total.compared > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_after_random_gains_losses_and_faults_cache_and_handlers_agree_with_the_server, open_pool,
            close_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
