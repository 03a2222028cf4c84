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

#include "core/informer/support/changing_share.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/runs.h"
#include "informer/reflect/followed.h"

enum { NAMESPACES = 3 };

struct run {
    struct changing_share share;
    struct followed *followed;
    bool in[NAMESPACES];
};

static struct {
    size_t joins, leaves;
    struct changing_totals all;
} total;

static int64_t dice(struct run *run, int64_t from, int64_t to)
{
    return changing_dice(&run->share, from, to);
}

static void on_listed(void *ctx, struct collection *objects, struct str version)
{
    followed_listed(ctx, objects, version);
}

/* The server sends all namespaces, and none but this one is taken of it. */
static void *start_list(void *ctx, struct followed_namespace *joining, const char *ns)
{
    struct run *run = ctx;
    return changing_list(&run->share,
                         (struct reflector_options){.name = ns, .listed = on_listed, .ctx = joining});
}

static void end_list(void *ctx, void *list)
{
    changing_end_list(&((struct run *)ctx)->share, list);
}

static void relist(void *ctx)
{
    reflector_relist(((struct run *)ctx)->share.reflector);
}

static void on_changed(void *ctx) {}

static void toggle_namespace(void *ctx)
{
    struct run *run = ctx;
    int i = (int)dice(run, 0, NAMESPACES);
    char name[8];
    snprintf(name, sizeof name, "n%d", i);
    run->in[i] = !run->in[i];
    *(run->in[i] ? &total.joins : &total.leaves) += 1;
    (run->in[i] ? followed_join : followed_leave)(run->followed, name);
}

static void begin(struct run *run, uint64_t seed)
{
    *run = (struct run){0};
    changing_begin(&run->share, seed);
    run->followed = followed_new(&(struct followed_options){
        .name = "random",
        .fifo = shared_informer_fifo(run->share.informer),
        .clock = &run->share.clock.clock,
        .start_list = start_list,
        .end_list = end_list,
        .relist = relist,
        .changed = on_changed,
        .ctx = run,
    });
    if (dice(run, 0, 2)) toggle_namespace(run);
    run->share.reflector = reflector_new(&(struct reflector_options){
        .name = "random",
        .source = &run->share.server.base,
        .fifo = shared_informer_fifo(run->share.informer),
        .clock = &run->share.clock.clock,
        .seed = seed,
        .followed = run->followed,
        .tuning = {.watch_list = dice(run, 0, 2) ? WATCH_LIST_OFF : WATCH_LIST_ON,
                   .page_size = dice(run, 0, 2) ? 0 : (int)dice(run, 1, 6)},
    });
    reflector_start(run->share.reflector);
}

static void check_left(void *ctx)
{
    struct run *run = ctx;
    for (int i = 0; i < NAMESPACES; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        if (run->in[i]) continue;
        assert_int_equal(indexer_namespace_count(shared_informer_indexer(run->share.informer), str_of(name)),
                         0);
    }
}

static bool is_owned(void *ctx, int key, const struct root *object)
{
    return ((struct run *)ctx)->in[key % NAMESPACES];
}

static void settle(struct run *run)
{
    changing_settle(&run->share);
    assert_int_equal(followed_count(run->followed).followed, run->in[0] + run->in[1] + run->in[2]);
    assert_int_equal(followed_count(run->followed).joining, 0);
}

static void end(struct run *run)
{
    reflector_free(run->share.reflector);
    followed_stop(run->followed);
    followed_free(run->followed);
    changing_end(&run->share, &total.all);
}

static void play(uint64_t seed)
{
    struct run run;
    begin(&run, seed);
    changing_go_on(&run.share, toggle_namespace, check_left, &run);
    settle(&run);
    changing_compare(&run.share, is_owned, &run, &total.all);
    end(&run);
}

static void test_after_random_joins_leaves_and_faults_cache_and_handlers_agree_with_the_server(void **state)
{
    runs_play(play, 2000);
    print_message(
        "%zu calls, %zu coalesced, %zu joins, %zu leaves, %zu list requests, %zu watches, %zu objects "
        "compared\n",
        total.all.calls, total.all.coalesced, total.joins, total.leaves, total.all.lists, total.all.watches,
        total.all.compared);
    assert_true(total.all.calls > 0 && total.joins > 0 && total.leaves > 0 && total.all.compared > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_after_random_joins_leaves_and_faults_cache_and_handlers_agree_with_the_server,
            runs_open_objects, runs_close_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
