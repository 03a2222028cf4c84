/* Compression must not be seen in the outcome: two informers are told the same random history, one queue
 * compresses almost always, the other one never. Afterwards both caches are the server's state, and so are
 * the calls of each handler, replayed onto an empty map; on the way no handler hears of an add of what it
 * has, of an update of what it lacks, or of an older version, and no cache lacks a change that its version
 * covers (B-10). SEED picks the first run, RUNS how many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/objects.h"
#include "core/informer/support/runs.h"
#include "informer/shared/shared_informer.h"

enum { KEYS = 8, SIDES = 2, HISTORY_MAX = 600 };

/* A handler that replays its calls. */
struct replay {
    struct root *map[KEYS];
    int64_t version[KEYS]; /* newest ever told */
    size_t calls;
};

struct side {
    struct shared_informer *informer;
    struct replay all, filtered, split, late;
    struct registration *late_registration;
};

struct run {
    struct jitter jitter;
    struct side sides[SIDES];
    int64_t version, uids;
    struct root *server[KEYS];
    int changed[HISTORY_MAX]; /* the key of each version */
};

static struct run run;

static int64_t dice(int64_t from, int64_t to)
{
    return jitter_between(&run.jitter, from, to);
}

static int key_of(const struct root *object)
{
    struct text text;
    return root_name(object, &text).p[1] - '0';
}

static int64_t version_of(const struct root *object)
{
    struct text text;
    uint64_t version = 0;
    assert_true(str_to_u64(root_resource_version(object, &text), &version));
    return (int64_t)version;
}

static void tell(struct replay *r, struct root *object, bool newer, struct root *now)
{
    int key = key_of(object);
    int64_t version = version_of(object);
    r->calls++;
    assert_true(newer ? version > r->version[key] : version >= r->version[key]);
    r->version[key] = version;
    root_unref(r->map[key]);
    r->map[key] = now ? root_ref(now) : NULL;
}

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    struct replay *r = ctx;
    assert_null(r->map[key_of(object)]);
    tell(r, object, !info->filtered, object);
}

static void on_update(void *ctx, struct root *before, struct root *after, const struct event_info *info)
{
    struct replay *r = ctx;
    assert_ptr_equal(r->map[key_of(after)], before);
    tell(r, after, true, after);
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    struct replay *r = ctx;
    assert_non_null(r->map[key_of(last)]);
    tell(r, last, false, NULL);
}

static struct registration *listen(struct side *side, struct replay *replay, struct handler_options *options)
{
    struct registration *r;
    struct event_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
    handler.ctx = replay;
    handler.options = options;
    shared_informer_add_handler(side->informer, &handler, &r);
    handler_options_unref(options);
    return r;
}

static void forget(struct replay *r)
{
    for (int i = 0; i < KEYS; i++) root_unref(r->map[i]);
    *r = (struct replay){0};
}

static void toggle_late(struct side *side)
{
    if (side->late_registration) {
        shared_informer_remove_handler(side->informer, side->late_registration);
        side->late_registration = NULL;
        forget(&side->late);
    } else {
        side->late_registration = listen(side, &side->late, NULL);
    }
}

static void open_side(struct side *side, size_t mark)
{
    struct err err;
    side->informer = shared_informer_new("random", NULL, NULL);
    delta_fifo_set_mark(shared_informer_fifo(side->informer), mark);
    listen(side, &side->all, NULL);
    struct handler_options *options = handler_options_new();
    assert_true(filter_set_selector(handler_options_filter(options), STR("x=1"), &err));
    listen(side, &side->filtered, options);
    options = handler_options_new();
    options->split_recreated = true;
    listen(side, &side->split, options);
}

static void begin(uint64_t seed)
{
    run = (struct run){.jitter = {seed}};
    objects_open();
    open_side(&run.sides[0], (size_t)dice(0, 6));
    open_side(&run.sides[1], SIZE_MAX);
}

static void finish(void)
{
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &run.sides[i];
        shared_informer_free(side->informer);
        forget(&side->all);
        forget(&side->filtered);
        forget(&side->split);
        forget(&side->late);
    }
    for (int i = 0; i < KEYS; i++) root_unref(run.server[i]);
    objects_close();
}

/* --- the server */

static struct root *made(int key, bool same_uid)
{
    char text[40], labels[16];
    if (!same_uid) run.uids++;
    snprintf(text, sizeof text, "k%d@%lld#u%lld", key, (long long)run.version, (long long)run.uids);
    snprintf(labels, sizeof labels, "{\"x\":\"%d\"}", (int)dice(0, 2));
    return object_with_labels(text, labels);
}

static void tell_sides(enum delta_type type, struct root *object)
{
    for (int i = 0; i < SIDES; i++)
        delta_fifo_add(shared_informer_fifo(run.sides[i].informer), type, root_ref(object), 7);
}

/* Adds, updates or deletes a random key; told by an event unless the watch is broken. */
static void change(bool told)
{
    int key = (int)dice(0, KEYS);
    if (run.version + 1 >= HISTORY_MAX) return;
    run.changed[++run.version] = key;
    struct root *known = run.server[key];
    if (known && dice(0, 3) == 0) {
        struct root *last = made(key, true);
        if (told) tell_sides(DELTA_DELETED, last);
        root_unref(last);
        run.server[key] = NULL;
    } else {
        run.server[key] = made(key, known != NULL);
        if (told) tell_sides(known ? DELTA_UPDATED : DELTA_ADDED, run.server[key]);
    }
    root_unref(known);
}

static void list(void)
{
    char version[24];
    int first = (int)dice(0, KEYS);
    snprintf(version, sizeof version, "%lld", (long long)run.version);
    for (int i = 0; i < SIDES; i++) {
        struct root **objects = xcalloc(KEYS, sizeof *objects);
        size_t count = 0;
        for (int k = 0; k < KEYS; k++) {
            struct root *object = run.server[(first + k) % KEYS];
            if (object) objects[count++] = root_ref(object);
        }
        delta_fifo_replace(shared_informer_fifo(run.sides[i].informer), version, objects, count, NULL, 7);
    }
}

static void bookmark(void)
{
    char version[24];
    snprintf(version, sizeof version, "%lld", (long long)run.version);
    for (int i = 0; i < SIDES; i++) delta_fifo_bookmark(shared_informer_fifo(run.sides[i].informer), version);
}

/* --- what must hold */

/* The cache has, of each key, at least what its own version covers. */
static void assert_covers(const struct side *side)
{
    const struct indexer *store = shared_informer_indexer(side->informer);
    uint64_t covered = 0;
    str_to_u64(str_of(indexer_resource_version(store)), &covered);
    int64_t newest[KEYS] = {0};
    for (int64_t v = 1; v <= (int64_t)covered; v++) newest[run.changed[v]] = v;
    for (int k = 0; k < KEYS; k++) {
        char name[8];
        snprintf(name, sizeof name, "k%d", k);
        const struct root *stored = indexer_get(store, STR(""), str_of(name));
        if (stored) assert_true(version_of(stored) >= newest[k]);
    }
}

static void assert_same(const struct replay *replay, bool filtered)
{
    struct text text;
    for (int k = 0; k < KEYS; k++) {
        struct root *expected = run.server[k];
        struct str x =
            expected ? value_str(value_field(root_labels(expected), STR("x")), &text) : (struct str){0};
        if (filtered && !str_is(x, "1")) expected = NULL;
        assert_ptr_equal(replay->map[k], expected);
    }
}

static void compare(void)
{
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &run.sides[i];
        while (shared_informer_process(side->informer, 1000) > 0) continue;
        char version[24];
        snprintf(version, sizeof version, "%lld", (long long)run.version);
        if (run.version)
            assert_string_equal(indexer_resource_version(shared_informer_indexer(side->informer)), version);
        assert_same(&side->all, false);
        assert_same(&side->split, false);
        assert_same(&side->filtered, true);
        if (side->late_registration) assert_same(&side->late, false);
    }
}

static void step(void)
{
    switch (dice(0, 14)) {
    case 0: /* the watch breaks, things happen, a list follows */
        for (int64_t i = dice(0, 6); i > 0; i--) change(false);
        list();
        break;
    case 1: bookmark(); break;
    case 2:
        for (int i = 0; i < SIDES; i++) delta_fifo_resync(shared_informer_fifo(run.sides[i].informer), 0);
        break;
    case 3: toggle_late(&run.sides[dice(0, SIDES)]); break;
    case 4:
    case 5: {
        struct side *side = &run.sides[dice(0, SIDES)];
        shared_informer_process(side->informer, (size_t)dice(1, 12));
        assert_covers(side);
        break;
    }
    default: change(true);
    }
}

static size_t saved;

static void play(uint64_t seed)
{
    begin(seed);
    if (dice(0, 5)) list();
    for (int64_t i = dice(1, 120); i > 0; i--) step();
    compare();
    saved += run.sides[1].all.calls - run.sides[0].all.calls;
    finish();
}

static int say_seed(void **state)
{
    runs_failed();
    return 0;
}

static void test_q1_q3_q16_compression_cannot_be_seen_in_the_outcome(void **state)
{
    uint64_t runs = runs_play(play, 4000);
    print_message("%zu calls saved\n", saved);
    if (runs > 100) assert_true(saved > 10 * runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_q1_q3_q16_compression_cannot_be_seen_in_the_outcome, NULL,
                                        say_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
