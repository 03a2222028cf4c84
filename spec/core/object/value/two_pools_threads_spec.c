/* Two pools on two threads, which share the key dictionary and the shape table (dict.h): both pack new keys
 * and shapes at once, read each other's objects by compiled paths, and find what they wrote. Made for
 * ThreadSanitizer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/object/support/objects.h"
#include "object/value/key_ref.h"
#include "object/value/path.h"

enum { ROUNDS = 3000, KEYS = 40 };

struct side {
    struct pool *pool;
    struct packer *packer;
    struct side *other;
    struct path **path; /* path[i] finds key<i>; shared by both sides */
    pthread_mutex_t lock;
    struct root *shown; /* under the lock: an object for the other side to read */
    int start;
};

/* {"k<first>":first,...}: the same keys on both sides, in orders that neither has seen. */
static struct root *pack_round(struct side *side, int round)
{
    struct buf json = {0};
    buf_printf(&json, "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"round\":%d", round);
    for (int i = 0; i < 6; i++) {
        int key = (round * (7 + i) + i * side->start) % KEYS;
        buf_printf(&json, ",\"key%d\":%d,\"once%d-%d\":true", key, key, round / 8, i);
    }
    buf_puts(&json, "}}");
    struct root *root = pack_ok(side->packer, buf_text(&json));
    buf_clear(&json);
    return root;
}

static void show(struct side *side, struct root *root)
{
    pthread_mutex_lock(&side->lock);
    struct root *old = side->shown;
    side->shown = root;
    pthread_mutex_unlock(&side->lock);
    root_unref(old);
}

static void read_one(struct side *from, struct path *const *path)
{
    pthread_mutex_lock(&from->lock);
    struct root *root = from->shown ? root_ref(from->shown) : NULL;
    pthread_mutex_unlock(&from->lock);
    if (!root) return;
    for (int i = 0; i < KEYS; i++) {
        struct value v = path_get(path[i], root_value(root));
        if (value_type(v) != VALUE_ABSENT && value_int(v) != i) abort();
    }
    struct buf out = {0};
    json_write(&out, root_value(root));
    if (out.len < 50) abort();
    buf_clear(&out);
    root_unref(root);
}

static void *run(void *arg)
{
    struct side *side = arg;
    pool_adopt(side->pool);
    for (int round = side->start; round < side->start + ROUNDS; round++) {
        show(side, pack_round(side, round));
        read_one(side, side->path);
        read_one(side->other, side->path);
    }
    return NULL;
}

static void test_two_threads_pack_and_read_each_others_objects(void **state)
{
    struct path *path[KEYS];
    struct side side[2] = {{.start = 1}, {.start = 500}};
    pthread_t thread[2];
    for (int i = 0; i < KEYS; i++) {
        char text[32];
        snprintf(text, sizeof text, "spec.key%d", i);
        path[i] = path_compile(str_of(text), NULL); /* before anybody knows the key */
    }
    for (int i = 0; i < 2; i++) {
        side[i].pool = pool_new(NULL);
        side[i].packer = packer_new(side[i].pool);
        side[i].other = &side[1 - i];
        side[i].path = path;
        pthread_mutex_init(&side[i].lock, NULL);
    }
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, run, &side[i]);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) {
        struct pool *pool = side[i].pool;
        pool_adopt(pool);
        root_unref(side[i].shown);
        pool_drain(pool);
        assert_int_equal(pool_stats(pool).roots, 0);
        packer_free(side[i].packer);
        pool_free(pool);
        pthread_mutex_destroy(&side[i].lock);
    }
    for (int i = 0; i < KEYS; i++) path_free(path[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_threads_pack_and_read_each_others_objects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
