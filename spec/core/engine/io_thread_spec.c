/* core/engine/io_thread: a pool of an earlier run is taken with success only; its pools are lent to the
 * engine thread. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/io_thread.h"
#include "object/pack/pack.h"

static struct root *make_object(struct pool *pool)
{
    static const char json[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}";
    char text[sizeof json + TAPE_PADDING] = {0};
    struct root *root = NULL;
    struct packer *packer = packer_new(pool);
    memcpy(text, json, sizeof json);
    assert_true(pack_text(packer, text, sizeof json - 1, NULL, &root, NULL));
    packer_free(packer);
    return root;
}

/* The objects in it have holders, so that the pool could not be freed. */
static void test_a_pool_stays_the_callers_without_a_client(void **state)
{
    (void)state;
    static char server[] = "https://127.0.0.1:1", ns[] = "default", source[] = "a file",
                ca[] = "no certificate";
    struct cluster_config config = {.server = server, .namespace_ = ns, .source = source, .ca_pem = ca};
    const struct kube_client_options options = {.config = &config};
    struct pool *pool = pool_new(NULL);
    struct root *root = make_object(pool);
    struct err err = {0};
    assert_null(io_thread_new(&options, NULL, pool, 0, &err));
    assert_int_equal(pool_stats(pool).roots, 1);
    root_unref(root);
    pool_free(pool);
}

static void test_a_pool_is_taken_with_the_client(void **state)
{
    (void)state;
    static char server[] = "http://127.0.0.1:1", ns[] = "default", source[] = "a flag";
    struct cluster_config config = {.server = server, .namespace_ = ns, .source = source};
    const struct kube_client_options options = {.config = &config};
    struct pool *pool = pool_new(NULL);
    struct root *root = make_object(pool);
    struct err err = {0};
    struct io_thread *io = io_thread_new(&options, NULL, pool, 0, &err);
    assert_non_null(io);
    assert_ptr_equal(io_thread_pool(io), pool);
    root_unref(root);
    io_thread_free(io);
}

static void release_in(void *ctx)
{
    root_unref(ctx);
}

/* An object that another thread than the pool's releases would wait for a drain. */
static void test_pools_are_the_engine_threads_while_they_are_borrowed(void **state)
{
    (void)state;
    static char server[] = "http://127.0.0.1:1", ns[] = "default", source[] = "a flag";
    struct cluster_config config = {.server = server, .namespace_ = ns, .source = source};
    const struct kube_client_options options = {.config = &config};
    struct err err = {0};
    struct io_thread *io = io_thread_new(&options, NULL, NULL, 2, &err);
    struct io_pools pools;
    assert_non_null(io);
    struct root *first = make_object(io_thread_pool(io)), *second;
    io_thread_start(io);
    while (!io_thread_borrow_pools(io, 10000, &pools)) sched_yield(); /* it has only begun */
    assert_int_equal(pools.count, 3);
    assert_ptr_equal(pools.pool[0], io_thread_pool(io));
    root_unref(first);
    assert_int_equal(pool_stats(pools.pool[0]).roots, 0);
    second = make_object(pools.pool[0]);
    struct root *third = make_object(pools.pool[2]);
    io_thread_return_pools(io, &pools);
    io_thread_call(io, release_in, second); /* is freed at once, as it is the thread's again */
    root_unref(third);
    assert_true(io_thread_borrow_pools(io, 10000, &pools));
    assert_int_equal(pool_stats(pools.pool[0]).roots, 0);
    io_thread_return_pools(io, &pools);
    io_thread_stop(io);
    io_thread_free(io);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pool_stays_the_callers_without_a_client),
        cmocka_unit_test(test_a_pool_is_taken_with_the_client),
        cmocka_unit_test(test_pools_are_the_engine_threads_while_they_are_borrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
