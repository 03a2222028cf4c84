/* core/engine/cluster.c: two clusters on one loop, each with a server of its own in the process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/inside/inside.h"
#include "engine/cluster.h"

enum { TURNS_MAX = 1000 };

struct side {
    struct spec_cluster *server;
    struct cluster_config config;
    struct cluster *cluster;
    struct informer_claim *claim;
    size_t answers, synced;
};

static struct loop *loop;
static struct engine_settings settings = {.identity = "unit"};

static void on_changed(void *ctx, struct informer_claim *claim) {}

static void on_synced(void *ctx, const char *informer, size_t objects)
{
    struct side *side = ctx;
    side->synced += objects;
}

static void on_unknown(void *ctx, struct informer_claim *claim, const struct err *err) {}

static void on_found(void *ctx, const struct catalogue *catalogue)
{
    struct side *side = ctx;
    side->answers++;
    kinds_set(side->cluster->parts.kinds, catalogue);
    shared_factory_resolve(side->cluster->parts.factory, catalogue, on_unknown, NULL);
}

static void on_failed(void *ctx, const struct err *err)
{
    fail_msg("%s", err->text);
}

static void on_leads(void *ctx) {}

static void open_side(struct side *side, char *server)
{
    struct kube_client_options client;
    struct err err;
    *side = (struct side){.server = spec_cluster_new(&(struct spec_cluster_options){.loop = loop})};
    test_cluster_connect(side->server, server, &side->config, &client);
    side->cluster = cluster_new(&(const struct cluster_options){.engine_loop = loop,
                                                                .io_loop = loop,
                                                                .config = &side->config,
                                                                .server = client.local,
                                                                .settings = &settings},
                                &err);
    assert_non_null(side->cluster);
    cluster_watch(side->cluster, &(const struct cluster_watcher){.changed = on_changed,
                                                                 .synced = on_synced,
                                                                 .found_kinds = on_found,
                                                                 .failed_kinds = on_failed,
                                                                 .leads = on_leads,
                                                                 .ctx = side});
}

static void close_side(struct side *side)
{
    if (side->claim) claim_release(side->claim);
    cluster_end(side->cluster, 0);
    cluster_free(side->cluster);
    spec_cluster_free(side->server);
}

static void settle(const struct side *sides, size_t count)
{
    bool more = true;
    for (int i = 0; more; i++) {
        assert_true(i < TURNS_MAX && loop_settle(loop, TURNS_MAX));
        more = false;
        for (size_t s = 0; s < count; s++) more |= spec_cluster_pump(sides[s].server);
    }
}

static bool knows(const struct side *side, const char *kind)
{
    struct resource resource;
    struct err err;
    bool known = kinds_resolve(side->cluster->parts.kinds, str_of(kind), &resource, &err);
    if (known) resource_clear(&resource);
    return known;
}

static void put_object(const struct side *side, struct str json)
{
    struct err err;
    if (!sim_inside_put(spec_cluster_inside(side->server), json, &err)) fail_msg("%s", err.text);
}

static void test_two_clusters_know_their_own_kinds_and_objects_and_end_alone(void **state)
{
    static char one[] = "http://one.test", two[] = "http://two.test";
    struct side sides[2];
    loop = loop_new_by_hand(1);
    open_side(&sides[0], one);
    open_side(&sides[1], two);
    sim_inside_add_kind(spec_cluster_inside(sides[0].server), "example.com", "v1", "widgets", "Widget", true);
    put_object(&sides[1],
               STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"default\","
                   "\"name\":\"a\"}}"));
    for (size_t i = 0; i < 2; i++) {
        const struct informer_spec maps = {
            .kind = "configmaps", .namespace_ = "", .label_selector = "", .field_selector = ""};
        sides[i].claim = shared_factory_claim(sides[i].cluster->parts.factory, &maps);
        cluster_refresh_kinds(sides[i].cluster);
    }
    settle(sides, 2);
    for (size_t i = 0; i < 2; i++) assert_true(claim_has_synced(sides[i].claim));
    assert_true(knows(&sides[0], "widgets"));
    assert_false(knows(&sides[1], "widgets"));
    assert_int_equal(sides[0].synced, 0);
    assert_int_equal(sides[1].synced, 1);

    close_side(&sides[0]);
    cluster_refresh_kinds(sides[1].cluster);
    settle(&sides[1], 1);
    assert_int_equal(sides[0].answers, 1);
    assert_int_equal(sides[1].answers, 2);
    close_side(&sides[1]);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_clusters_know_their_own_kinds_and_objects_and_end_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
