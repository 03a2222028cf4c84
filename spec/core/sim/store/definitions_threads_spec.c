/* CustomResourceDefinitions within a store: names that two of them want, their end, and what older versions
 * took. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/store/load.h"
#include "sim/text/tree.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

enum { ROUNDS = 40, OBJECTS = 60 };

static struct sim_cluster cluster;

/* jansson counts references atomically, but first looks whether there is a count, by a plain read. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:json_incref\nrace:json_decref\n";
}

/* `more` are members of metadata, with a comma before them. */
static char *definition(const char *plural, const char *singular, const char *kind, const char *more)
{
    return xasprintf("{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\","
                     "\"metadata\":{\"name\":\"%s.ex.io\"%s},\"spec\":{\"group\":\"ex.io\",\"scope\":"
                     "\"Namespaced\",\"names\":{\"plural\":\"%s\",\"singular\":\"%s\",\"kind\":\"%s\","
                     "\"listKind\":\"%sList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":"
                     "true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"a\":{"
                     "\"type\":\"string\",\"pattern\":\"(?%sa)\"}}}}}]}}",
                     plural, more, plural, singular, kind, kind, *more ? "=" : ":");
}

static void define(const char *plural, const char *singular, const char *kind)
{
    char *body = definition(plural, singular, kind, "");
    json_decref(sim_cluster_json(&cluster, "POST " CRDS, body, 201));
    free(body);
}

static char *object(const char *kind, const char *name, const char *more)
{
    return xasprintf("{\"kind\":\"%s\",\"apiVersion\":\"ex.io/v1\",\"metadata\":{\"name\":\"%s\"%s}}", kind,
                     name, more);
}

static void test_only_objects_of_its_own_end_with_it(void **state)
{
    sim_cluster_init(&cluster, 0);
    define("bars", "foos", "Bar");
    char *body = object("Bar", "one", "");
    json_decref(sim_cluster_json(&cluster, "POST /apis/ex.io/v1/namespaces/default/bars", body, 201));
    free(body);
    define("foos", "foo", "Foo");
    json_t *foos = sim_cluster_json(&cluster, "GET " CRDS "/foos.ex.io", NULL, 200);
    assert_text_at(sim_find(sim_at(foos, "status.conditions"), "type", "NamesAccepted"), "reason",
                   "PluralConflict");
    json_decref(foos);
    json_decref(sim_cluster_json(&cluster, "DELETE " CRDS "/foos.ex.io", NULL, 200));
    json_decref(sim_cluster_json(&cluster, "GET " CRDS "/foos.ex.io", NULL, 404));
    json_decref(sim_cluster_json(&cluster, "GET /apis/ex.io/v1/namespaces/default/bars/one", NULL, 200));
    sim_cluster_clear(&cluster);
}

static void test_the_next_one_gets_names_that_become_free(void **state)
{
    sim_cluster_init(&cluster, 0);
    define("foos", "foo", "Foo");
    define("bars", "bar", "Foo");
    json_decref(sim_cluster_json(&cluster, "GET /apis/ex.io/v1/bars", NULL, 404));
    json_decref(sim_cluster_json(&cluster, "DELETE " CRDS "/foos.ex.io", NULL, 200));
    json_decref(sim_cluster_json(&cluster, "GET /apis/ex.io/v1/bars", NULL, 200));
    sim_cluster_clear(&cluster);
}

/* A request must not have such a pattern; an older version took it. */
static void test_what_is_loaded_is_served(void **state)
{
    struct err err = {0};
    sim_cluster_init(&cluster, 0);
    char *loaded = definition("bars", "bar", "Bar", ",\"labels\":{}"),
         *stored = definition("foos", "foo", "Foo", ",\"uid\":\"u-1\"");
    json_decref(sim_cluster_json(&cluster, "POST " CRDS, loaded, 422));
    assert_true(sim_load_text(&cluster.api, str_of(loaded), &err));
    assert_true(sim_load_text(&cluster.api, str_of(stored), &err));
    json_decref(sim_cluster_json(&cluster, "GET /apis/ex.io/v1/bars", NULL, 200));
    json_decref(sim_cluster_json(&cluster, "GET /apis/ex.io/v1/foos", NULL, 200));
    free(loaded);
    free(stored);
    loaded = definition("bars", "bar", "", "");
    assert_false(sim_load_text(&cluster.api, str_of(loaded), &err));
    assert_non_null(strstr(err.text, "spec.names.kind: Required value"));
    err_clear(&err);
    free(loaded);
    sim_cluster_clear(&cluster);
}

/* --- Threads */

static void *post(void *body)
{
    struct sim_reply reply;
    sim_cluster_call(&cluster, "POST " CRDS, "application/json", body, &reply);
    must(reply.code == 201);
    sim_reply_clear(&reply);
    return NULL;
}

static bool is_established(const char *path)
{
    json_t *crd = sim_cluster_json(&cluster, path, NULL, 200);
    const json_t *condition = sim_find(sim_at(crd, "status.conditions"), "type", "Established");
    bool is = strcmp(sim_text_at(condition, "status"), "True") == 0;
    json_decref(crd);
    return is;
}

static void test_one_of_two_gets_the_kind(void **state)
{
    char *bodies[] = {definition("foos", "foo", "Foo", ""), definition("bars", "bar", "Foo", "")};
    for (size_t i = 0; i < ROUNDS; i++) {
        pthread_t threads[2];
        sim_cluster_init(&cluster, 0);
        for (size_t t = 0; t < 2; t++) must(pthread_create(&threads[t], NULL, post, bodies[t]) == 0);
        for (size_t t = 0; t < 2; t++) pthread_join(threads[t], NULL);
        assert_int_equal(
            is_established("GET " CRDS "/foos.ex.io") + is_established("GET " CRDS "/bars.ex.io"), 1);
        sim_cluster_clear(&cluster);
    }
    free(bodies[0]);
    free(bodies[1]);
}

static void *create_all(void *ctx)
{
    for (size_t i = 0; i < OBJECTS; i++) {
        char *name = xasprintf("%s-%zu", (const char *)ctx, i), *body = object("Foo", name, "");
        struct sim_reply reply;
        sim_cluster_call(&cluster, "POST /apis/ex.io/v1/namespaces/default/foos", "application/json", body,
                         &reply);
        sim_reply_clear(&reply);
        free(name);
        free(body);
    }
    return NULL;
}

static void test_it_ends_while_objects_are_created(void **state)
{
    for (size_t i = 0; i < ROUNDS; i++) {
        static char names[][2] = {"a", "b"};
        pthread_t threads[2];
        sim_cluster_init(&cluster, 0);
        define("foos", "foo", "Foo");
        for (size_t t = 0; t < 2; t++) must(pthread_create(&threads[t], NULL, create_all, names[t]) == 0);
        json_decref(sim_cluster_json(&cluster, "DELETE " CRDS "/foos.ex.io", NULL, 200));
        for (size_t t = 0; t < 2; t++) pthread_join(threads[t], NULL);
        json_decref(sim_cluster_json(&cluster, "GET " CRDS "/foos.ex.io", NULL, 404));
        sim_cluster_clear(&cluster);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_objects_of_its_own_end_with_it),
        cmocka_unit_test(test_the_next_one_gets_names_that_become_free),
        cmocka_unit_test(test_what_is_loaded_is_served),
        cmocka_unit_test(test_one_of_two_gets_the_kind),
        cmocka_unit_test(test_it_ends_while_objects_are_created),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
