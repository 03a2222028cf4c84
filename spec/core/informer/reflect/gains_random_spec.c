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

#include "core/informer/support/changing_share.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/runs.h"
#include "informer/reflect/gains.h"
#include "informer/shared/ranges.h"

enum { PARTS = 4 };

struct run {
    struct changing_share share;
    struct shard_filter filter, gained;
    struct gains *gains;
    int64_t generation;
    bool in[PARTS]; /* of the hash space: they are owned */
    bool watch_lists, in_doubt;
};

static struct {
    size_t gains, losses, alone, doubts;
    struct changing_totals all;
} total;

static int64_t dice(struct run *run, int64_t from, int64_t to)
{
    return changing_dice(&run->share, from, to);
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
    total.alone++;
    return changing_list(
        &run->share, (struct reflector_options){
                         .name = "gained", .shard = &run->gained, .listed = on_listed, .ctx = run->gains});
}

static void end_list(void *ctx, void *list)
{
    changing_end_list(&((struct run *)ctx)->share, list);
}

static void relist(void *ctx)
{
    reflector_relist(((struct run *)ctx)->share.reflector);
}

static void start_reflector(struct run *run)
{
    run->share.reflector = reflector_new(&(struct reflector_options){
        .name = "random",
        .source = &run->share.server.base,
        .fifo = shared_informer_fifo(run->share.informer),
        .clock = &run->share.clock.clock,
        .seed = jitter_next(&run->share.jitter),
        .shard = &run->filter,
        .gains = run->gains,
        .tuning = {.watch_list = run->watch_lists ? WATCH_LIST_ON : WATCH_LIST_OFF,
                   .page_size = run->share.page_size},
    });
    reflector_start(run->share.reflector);
}

/* As feed_shard.c does it. */
static void gain(struct run *run, const struct slot_set *missing)
{
    if (reflector_rewatch(run->share.reflector)) {
        gains_list(run->gains, &run->filter.slots, missing, run->generation);
        return;
    }
    gains_reset(run->gains);
    reflector_relist_newest(run->share.reflector);
}

static void set_slots(struct run *run)
{
    struct ranges *ranges = shared_informer_ranges(run->share.informer);
    struct slot_set slots = {0};
    for (size_t i = 0; i < PARTS; i++)
        if (run->in[i]) slot_set_add_run(&slots, i * SHARD_SLOTS / PARTS, (i + 1) * SHARD_SLOTS / PARTS);
    ranges_set(ranges, &slots);
    const struct slot_set missing = ranges_missing(ranges);
    bool gained = ranges->generation != run->generation;
    run->filter.slots = slots;
    run->generation = ranges->generation;
    delta_fifo_set_generation(shared_informer_fifo(run->share.informer), run->generation);
    gains_keep(run->gains, &slots);
    if (slot_set_is_empty(&slots)) {
        gains_reset(run->gains);
        reflector_free(run->share.reflector);
        run->share.reflector = NULL;
    } else if (!run->share.reflector) {
        start_reflector(run);
    } else if (gained) {
        gain(run, &missing);
    }
}

/* Now and then the Lease is not renewed in time; slots that are lost meanwhile do not come back. */
static void toggle_part(void *ctx)
{
    struct run *run = ctx;
    int i = (int)dice(run, 0, PARTS);
    if (run->in_doubt) {
        run->in_doubt = false;
        if (dice(run, 0, 2)) run->in[i] = false;
        set_slots(run);
        return;
    }
    if (run->share.reflector && !dice(run, 0, 3)) {
        run->in_doubt = true;
        total.doubts++;
        ranges_doubt(shared_informer_ranges(run->share.informer));
        return;
    }
    run->in[i] = !run->in[i];
    *(run->in[i] ? &total.gains : &total.losses) += 1;
    set_slots(run);
}

static void begin(struct run *run, uint64_t seed)
{
    *run = (struct run){0};
    changing_begin(&run->share, seed);
    run->watch_lists = dice(run, 0, 2);
    shared_informer_share(run->share.informer, SHARD_BY_UID);
    shard_filter_init(&run->filter, SHARD_BY_UID);
    shard_filter_init(&run->gained, SHARD_BY_UID);
    run->gains = gains_new(&(struct gains_options){
        .name = "random",
        .by = SHARD_BY_UID,
        .fifo = shared_informer_fifo(run->share.informer),
        .clock = &run->share.clock.clock,
        .start_list = start_list,
        .end_list = end_list,
        .relist = relist,
        .ctx = run,
    });
    toggle_part(run);
}

static bool is_owned(void *ctx, int key, const struct root *object)
{
    return ((struct run *)ctx)->in[shard_slot_of(SHARD_BY_UID, object) * PARTS / SHARD_SLOTS];
}

static bool check_owned(void *ctx, struct root *object)
{
    assert_true(is_owned(ctx, 0, object) && !((struct run *)ctx)->in_doubt);
    return true;
}

static void check_left(void *ctx)
{
    indexer_each(shared_informer_indexer(((struct run *)ctx)->share.informer), check_owned, ctx);
}

static void settle(struct run *run)
{
    if (run->in_doubt) toggle_part(run);
    if (!run->share.reflector) toggle_part(run);
    changing_settle(&run->share);
    const struct ranges *ranges = shared_informer_ranges(run->share.informer);
    assert_true(slot_set_equal(&ranges->listed, &ranges->owned));
}

static void end(struct run *run)
{
    reflector_free(run->share.reflector);
    gains_free(run->gains);
    changing_end(&run->share, &total.all);
}

static void play(uint64_t seed)
{
    struct run run;
    begin(&run, seed);
    changing_go_on(&run.share, toggle_part, check_left, &run);
    settle(&run);
    changing_compare(&run.share, is_owned, &run, &total.all);
    end(&run);
}

static void test_after_random_gains_losses_and_faults_cache_and_handlers_agree_with_the_server(void **state)
{
    runs_play(play, 2000);
    print_message(
        "%zu calls, %zu coalesced, %zu gains, %zu losses, %zu doubts, %zu lists of gained slots, %zu "
        "list requests, %zu watches, %zu objects compared\n",
        total.all.calls, total.all.coalesced, total.gains, total.losses, total.doubts, total.alone,
        total.all.lists, total.all.watches, total.all.compared);
    assert_true(total.all.calls > 0 && total.gains > 0 && total.doubts > 0 && total.alone > 0 &&
                total.all.compared > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_after_random_gains_losses_and_faults_cache_and_handlers_agree_with_the_server,
            runs_open_objects, runs_close_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
