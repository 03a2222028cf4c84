/* Reflector, queue, store and handlers together against a server that changes, compacts and fails at random:
 * when it stops failing, the cache is the server's state, and what each handler was told, replayed onto an
 * empty map, is the same. SEED picks the first run, RUNS how many. */
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
#include "informer/reflector.h"
#include "informer/shared_informer.h"

/* A handler that replays its calls. */
struct replay {
    struct root *map[FAKE_KEYS];
    int64_t version[FAKE_KEYS]; /* newest ever told */
    struct registration *registration;
    size_t calls;
};

struct run {
    struct virtual_clock clock;
    struct fake_server server;
    struct shared_informer *informer;
    struct reflector *reflector;
    struct jitter jitter;
    struct replay first, late;
};

static int64_t version_of(const struct root *object)
{
    struct text text;
    struct str version = root_resource_version(object, &text);
    uint64_t number = 0;
    assert_true(str_to_u64(version, &number));
    return (int64_t)number;
}

/* In order per key: what is told is never older than what was told before. */
static void note(struct replay *replay, const struct root *object, bool newer)
{
    int key = fake_key(object);
    int64_t version = version_of(object);
    replay->calls++;
    if (newer)
        assert_true(version > replay->version[key]);
    else
        assert_true(version >= replay->version[key]);
    replay->version[key] = version;
}

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(object);
    assert_null(replay->map[key]); /* no duplicate add */
    note(replay, object, true);
    replay->map[key] = root_ref(object);
}

static void on_update(void *ctx, struct root *before, struct root *after, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(after);
    assert_ptr_equal(replay->map[key],
                     before); /* no update of a missing key; `before` is what was told last */
    note(replay, after, true);
    root_unref(before);
    replay->map[key] = root_ref(after);
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    struct replay *replay = ctx;
    int key = fake_key(last);
    assert_non_null(replay->map[key]);
    if (info->final_state_unknown) assert_ptr_equal(replay->map[key], last);
    note(replay, last, !info->final_state_unknown);
    root_unref(replay->map[key]);
    replay->map[key] = NULL;
}

static void replay_start(struct replay *replay, struct shared_informer *informer)
{
    struct event_handler handler = {on_add, on_update, on_delete, replay};
    *replay = (struct replay){0};
    shared_informer_add_handler(informer, &handler, &replay->registration);
}

static void replay_stop(struct replay *replay, struct shared_informer *informer)
{
    if (replay->registration) shared_informer_remove_handler(informer, replay->registration);
    for (int i = 0; i < FAKE_KEYS; i++) root_unref(replay->map[i]);
    *replay = (struct replay){0};
}

static int64_t dice(struct run *run, int64_t from, int64_t to)
{
    return jitter_between(&run->jitter, from, to);
}

static void begin(struct run *run, uint64_t seed)
{
    *run = (struct run){.jitter = {seed}};
    virtual_clock_init(&run->clock);
    struct list_watch *source = fake_server_init(&run->server, &run->clock.clock, seed ^ 0x5eed);
    run->informer = shared_informer_new("random", NULL, NULL);
    for (int64_t i = dice(run, 1, 30); i > 0; i--) fake_server_change(&run->server);
    run->server.fault_percent = (int)dice(run, 0, 40);
    replay_start(&run->first, run->informer);
    run->reflector = reflector_new(&(struct reflector_options){
        .name = "random",
        .source = source,
        .fifo = shared_informer_fifo(run->informer),
        .clock = &run->clock.clock,
        .seed = seed,
        .page_size = dice(run, 0, 2) ? 0 : (int)dice(run, 1, 6),
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

static void step(struct run *run)
{
    for (int64_t i = dice(run, 0, 4); i > 0; i--) fake_server_change(&run->server);
    if (!dice(run, 0, 8)) fake_server_compact(&run->server);
    virtual_clock_advance(&run->clock, choose_pause(run));
    if (dice(run, 0, 3)) shared_informer_process(run->informer, (size_t)dice(run, 1, 20));
    if (dice(run, 0, 20)) return;
    if (run->late.registration)
        replay_stop(&run->late, run->informer);
    else
        replay_start(&run->late, run->informer);
}

static void compare(struct run *run)
{
    struct root *state[FAKE_KEYS];
    struct indexer *store = shared_informer_indexer(run->informer);
    size_t count = 0;
    fake_server_state(&run->server, fake_server_version(&run->server), state);
    for (int key = 0; key < FAKE_KEYS; key++) {
        assert_ptr_equal(run->first.map[key], state[key]);
        if (run->late.registration) assert_ptr_equal(run->late.map[key], state[key]);
        if (!state[key]) continue;
        assert_ptr_equal(indexer_get_like(store, state[key]), state[key]);
        count++;
    }
    assert_int_equal(indexer_count(store), count);
    assert_int_equal(indexer_namespace_count(store, STR("n0")) + indexer_namespace_count(store, STR("n1")) +
                         indexer_namespace_count(store, STR("n2")),
                     count);
}

/* Without faults everything settles, and asks for little while it does. */
static void settle(struct run *run)
{
    struct reflector_status status;
    run->server.fault_percent = 0;
    virtual_clock_advance(&run->clock, 70000);
    size_t lists = run->server.lists, watches = run->server.watches;
    virtual_clock_advance(&run->clock, 200000);
    assert_in_range(run->server.lists - lists, 0, FAKE_KEYS + 3);
    assert_in_range(run->server.watches - watches, 0, 3);
    while (shared_informer_process(run->informer, 1000) > 0) {}
    reflector_get_status(run->reflector, &status);
    assert_int_equal(status.state, REFLECTOR_WATCHING);
    assert_true(shared_informer_has_synced(run->informer));
    assert_true(registration_has_synced(run->first.registration));
}

static void end(struct run *run)
{
    reflector_free(run->reflector);
    replay_stop(&run->first, run->informer);
    replay_stop(&run->late, run->informer);
    shared_informer_free(run->informer);
    fake_server_clear(&run->server);
    assert_int_equal(clock_next_due_ms(&run->clock.clock), INT64_MAX);
    virtual_clock_clear(&run->clock);
    log_take();
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t failing_seed;

static int say_seed(void **state)
{
    if (failing_seed) print_error("Run it again with SEED=%llu RUNS=1\n", (unsigned long long)failing_seed);
    return 0;
}

static void test_after_random_faults_cache_and_handlers_agree_with_the_server(void **state)
{
    uint64_t seed = number_from("SEED", 1), runs = number_from("RUNS", 2000);
    size_t calls = 0, lists = 0, watches = 0;
    print_message("SEED=%llu RUNS=%llu\n", (unsigned long long)seed, (unsigned long long)runs);
    objects_open();
    for (uint64_t last = seed + runs; seed < last; seed++) {
        struct run run;
        failing_seed = seed;
        begin(&run, seed);
        for (int64_t i = dice(&run, 10, 80); i > 0; i--) step(&run);
        settle(&run);
        compare(&run);
        calls += run.first.calls;
        lists += run.server.lists;
        watches += run.server.watches;
        end(&run);
    }
    failing_seed = 0;
    print_message("%zu calls, %zu list requests, %zu watches\n", calls, lists, watches);
    assert_true(calls > 0 && lists > 0 && watches > 0);
    objects_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_after_random_faults_cache_and_handlers_agree_with_the_server,
                                  say_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
