/* Writers at the same time, on one object: no change may be lost. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/store/write.h"
#include "sim/text/tree.h"

enum { WRITERS = 4, ROUNDS = 200 };

static struct sim_cluster cluster;

static json_t *counted(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    json_t *object = json_deep_copy(old), *data = sim_submap(object, "data");
    char digits[24];
    snprintf(digits, sizeof digits, "%ld", strtol(sim_text_at(data, "n"), NULL, 10) + 1);
    json_object_set_new(data, "n", json_string(digits));
    return object;
}

static void *count_up(void *ctx)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct sim_written written;
        sim_write_update(&cluster.api, ctx, "default/a", NULL, counted, NULL, (struct sim_writer){0},
                         &written);
        if (written.refusal) abort();
        sim_written_clear(&cluster.api, &written);
    }
    return NULL;
}

/* Reads lists all the time, which must never show a version that goes back. */
static void *look(void *ctx)
{
    long last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct sim_reply reply;
        ssize_t end;
        sim_cluster_call(&cluster, "GET /api/v1/configmaps", "", NULL, &reply);
        char *text = sim_cluster_read(reply.stream, 1024, SIZE_MAX, &end), *n = strstr(text, "\"n\":\"");
        long now = n ? strtol(n + strlen("\"n\":\""), NULL, 10) : 0;
        if (now < last) abort();
        last = now;
        free(text);
        sim_reply_clear(&reply);
    }
    return NULL;
}

static void test_no_update_is_lost(void **state)
{
    pthread_t threads[WRITERS + 1];
    sim_cluster_init(&cluster, 16);
    sim_cluster_make(&cluster, "a");
    struct sim_served *served = sim_store_lookup(cluster.api.store, "configmaps");
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, served), 0);
    assert_int_equal(pthread_create(&threads[WRITERS], NULL, look, NULL), 0);
    for (size_t i = 0; i <= WRITERS; i++) pthread_join(threads[i], NULL);
    json_t *object = sim_cluster_json(&cluster, "GET /api/v1/namespaces/default/configmaps/a", NULL, 200);
    assert_text_at(object, "data.n", "800");
    json_decref(object);
    sim_cluster_clear(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_update_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
