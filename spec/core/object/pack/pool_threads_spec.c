/* Objects between threads: one packs and frees, others take, read and release. Made for ThreadSanitizer. */
#include "core/object/support/objects.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/dict.h"

enum { READERS = 3, SHELF = 32, ROUNDS = 6000 };

/* Where the packing thread leaves objects and the others take them from. */
struct shelf {
    pthread_mutex_t lock;
    struct root *root[SHELF];
    _Atomic bool over;
    _Atomic int released, taken;
};

static void put(struct shelf *shelf, uint32_t at, struct root *root)
{
    pthread_mutex_lock(&shelf->lock);
    struct root *old = shelf->root[at];
    shelf->root[at] = root;
    pthread_mutex_unlock(&shelf->lock);
    root_unref(old);
}

static struct root *take(struct shelf *shelf, uint32_t at, bool away)
{
    pthread_mutex_lock(&shelf->lock);
    struct root *root = shelf->root[at];
    if (root && !away) root_ref(root);
    if (away) shelf->root[at] = NULL;
    pthread_mutex_unlock(&shelf->lock);
    return root;
}

static void read_it(struct root *root)
{
    struct buf out = {0};
    json_write(&out, root_value(root));
    if (out.len < 50) abort();
    struct text text;
    struct str app = value_str(value_field(root_labels(root), STR("app")), &text);
    if (!str_is(app, "a-web-shop")) abort();
    buf_clear(&out);
}

static void *reader(void *arg)
{
    struct shelf *shelf = arg;
    struct random r = {(uint64_t)(uintptr_t)&r};
    while (!atomic_load(&shelf->over)) {
        struct root *root = take(shelf, random_below(&r, SHELF), random_below(&r, 4) == 0);
        if (!root) continue;
        atomic_fetch_add(&shelf->taken, 1);
        struct root *second = root_ref(root);
        read_it(root);
        root_unref(root);
        root_unref(second);
    }
    return NULL;
}

static void on_released(void *ctx)
{
    struct shelf *shelf = ctx;
    atomic_fetch_add(&shelf->released, 1);
}

/* Few different objects, so that released ones come again while they wait to be freed. */
static struct root *next_object(struct packer *packer, struct random *r)
{
    char json[512];
    snprintf(json, sizeof json,
             "{\"metadata\":{\"name\":\"pod-%u\",\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"a-web-"
             "shop\",\"tier\":\"frontend\","
             "\"key%u\":\"something\"}},\"note\":\"a text that is long enough to be shared by all of them\"}",
             random_below(r, 8), 1000 + random_below(r, 2), random_below(r, 40));
    return pack_ok(packer, json);
}

static void test_objects_come_and_go_between_threads(void **state)
{
    struct shelf shelf = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct pool_options options = {.released = on_released, .ctx = &shelf};
    struct fixture f;
    f.pool = pool_new(&options);
    f.packer = packer_new(f.pool);
    struct random r = random_start("objects between threads");
    pthread_t thread[READERS];
    for (int i = 0; i < READERS; i++) pthread_create(&thread[i], NULL, reader, &shelf);
    for (int i = 0; i < ROUNDS || atomic_load(&shelf.taken) < ROUNDS / 8; i++) {
        put(&shelf, random_below(&r, SHELF), next_object(f.packer, &r));
        if (i % 8 == 0) pool_drain(f.pool);
    }
    atomic_store(&shelf.over, true);
    for (int i = 0; i < READERS; i++) pthread_join(thread[i], NULL);
    for (uint32_t i = 0; i < SHELF; i++) put(&shelf, i, NULL);
    assert_true(atomic_load(&shelf.released) > 0);
    fixture_close(&f);
}

struct pair {
    _Atomic int turn;
    struct root *root;
};

/* Both threads release the last two references at once, thousands of times. */
static void *release_other(void *arg)
{
    struct pair *pair = arg;
    for (int i = 1; i <= ROUNDS; i++) {
        while (atomic_load(&pair->turn) != 2 * i - 1) sched_yield();
        struct root *root = pair->root;
        atomic_store(&pair->turn, 2 * i);
        root_unref(root);
    }
    return NULL;
}

static void test_the_last_two_references_go_at_once(void **state)
{
    struct fixture *f = *state;
    struct pair pair = {0};
    pthread_t thread;
    pthread_create(&thread, NULL, release_other, &pair);
    for (int i = 1; i <= ROUNDS; i++) {
        struct root *root = pack_ok(f->packer, "{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"1\"}}");
        pair.root = root_ref(root);
        atomic_store(&pair.turn, 2 * i - 1);
        while (atomic_load(&pair.turn) != 2 * i) sched_yield();
        root_unref(root);
        pool_drain(f->pool);
    }
    pthread_join(thread, NULL);
}

/* Several packers of several pools fill the dictionary while others look things up. */
static void *fill_dictionary(void *arg)
{
    struct fixture f;
    fixture_open(&f);
    for (int i = 0; i < 400; i++) {
        char json[256];
        snprintf(json, sizeof json,
                 "{\"metadata\":{\"name\":\"x\"},\"shared%d\":%d,\"mine%d-%llx\":{\"app\":%d}}", i, i, i,
                 (unsigned long long)(uintptr_t)arg, i);
        struct root *root = pack_ok(f.packer, json);
        char key[32];
        snprintf(key, sizeof key, "shared%d", i);
        if (value_int(value_field(root_value(root), str_of(key))) != i) abort();
        root_unref(root);
    }
    fixture_close(&f);
    return NULL;
}

static void test_pools_share_the_dictionary(void **state)
{
    static int number[READERS];
    pthread_t thread[READERS];
    for (int i = 0; i < READERS; i++) pthread_create(&thread[i], NULL, fill_dictionary, &number[i]);
    for (int i = 0; i < 2000; i++) {
        char key[32];
        snprintf(key, sizeof key, "shared%d", i % 400);
        uint32_t id = dict_find(str_of(key));
        if (id != DICT_NONE) assert_true(str_is(dict_text(id), key));
    }
    for (int i = 0; i < READERS; i++) pthread_join(thread[i], NULL);
    uint32_t id = dict_find(STR("shared399"));
    assert_true(id != DICT_NONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_objects_come_and_go_between_threads),
        TEST(test_the_last_two_references_go_at_once),
        TEST(test_pools_share_the_dictionary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
