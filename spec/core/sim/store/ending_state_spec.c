/* States that were saved while a definition or a namespace was ending: its content goes after the restart. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/must.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/object/object.h"
#include "sim/store/fault.h"
#include "sim/store/state.h"

#define CRDS       "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define NAMESPACES "/api/v1/namespaces"

static struct sim_cluster cluster;

static void post(const char *request, const char *body)
{
    json_t *given = js(body);
    char *text = json_dumps(given, 0);
    json_decref(sim_cluster_json(&cluster, request, text, 201));
    json_decref(given);
    free(text);
}

/* Changes a stored object as the beginning of its end does, and does no more. */
static void mark(const char *api_version, const char *kind, const char *key, const char *changes)
{
    struct sim_store *store = cluster.api.store;
    json_t *object = sim_stored(store, api_version, kind, key), *marks = js(changes), *value;
    const char *name;
    json_object_foreach (marks, name, value) json_object_update(json_object_get(object, name), value);
    char *text = json_dumps(object, JSON_COMPACT);
    sim_store_lock(store);
    sim_store_put(store, sim_store_of_kind(store, api_version, kind)->resource,
                  sim_object_from_text(str_of(text)));
    sim_store_unlock(store);
    json_decref(object);
    json_decref(marks);
    free(text);
}

static void begin(void)
{
    sim_cluster_init(&cluster, 0);
    post("POST " CRDS,
         "{'kind':'CustomResourceDefinition','apiVersion':'apiextensions.k8s.io/v1','metadata':{"
         "'name':'bars.ex.io'},'spec':{'group':'ex.io','scope':'Namespaced','names':{'plural':"
         "'bars','singular':'bar','kind':'Bar','listKind':'BarList'},'versions':[{'name':'v1',"
         "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}");
    post("POST /apis/ex.io/v1/namespaces/default/bars",
         "{'kind':'Bar','apiVersion':'ex.io/v1','metadata':{'name':'one'}}");
    for (const char *name = "abc"; *name; name++) {
        char *body = xasprintf("{'kind':'Namespace','apiVersion':'v1','metadata':{'name':'%c'}}", *name);
        post("POST " NAMESPACES, body);
        free(body);
    }
    post("POST " NAMESPACES "/b/configmaps",
         "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'x'}}");
    post("POST " NAMESPACES "/c/configmaps",
         "{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'x','finalizers':['ex.io/hold']}}");
}

/* Writes the state, and begins anew with it. */
static void restart(void)
{
    struct err err = {0};
    char path[] = "/tmp/ending-state-XXXXXX";
    bool found;
    int fd = mkstemp(path);
    must(fd >= 0);
    close(fd);
    struct sim_state *state = sim_state_take(cluster.api.store);
    assert_true(sim_state_write(state, path, &err));
    sim_state_free(state, cluster.api.store);
    sim_cluster_clear(&cluster);
    cluster = (struct sim_cluster){
        .api = {.store = sim_store_new(&(struct sim_store_options){0}), .faults = sim_faults_new()}};
    if (!sim_state_read(&cluster.api, path, &found, &err)) fail_msg("%s", err.text);
    assert_true(found);
    unlink(path);
}

static size_t count(const char *request)
{
    json_t *list = sim_cluster_json(&cluster, request, NULL, 200);
    size_t n = json_array_size(json_object_get(list, "items"));
    json_decref(list);
    return n;
}

static void test_what_is_not_ending_stays(void **state)
{
    begin();
    restart();
    assert_int_equal(count("GET " NAMESPACES), 4 + 3);
    assert_int_equal(count("GET /apis/ex.io/v1/bars"), 1);
    sim_cluster_clear(&cluster);
}

static void test_the_content_of_a_definition_goes_and_then_itself(void **state)
{
    begin();
    mark("apiextensions.k8s.io/v1", "CustomResourceDefinition", "bars.ex.io",
         "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z','finalizers':"
         "['customresourcecleanup.apiextensions.k8s.io']}}");
    restart();
    assert_int_equal(count("GET " CRDS), 0);
    sim_cluster_clear(&cluster);
}

#define ENDING "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'},'status':{'phase':'Terminating'}}"

static void test_the_content_of_a_namespace_goes_and_then_itself(void **state)
{
    begin();
    for (const char *name = "abc"; *name; name++) mark("v1", "Namespace", (char[]){*name, '\0'}, ENDING);
    restart();
    assert_int_equal(count("GET " NAMESPACES), 4 + 1);
    json_t *held = sim_cluster_json(&cluster, "GET " NAMESPACES "/c/configmaps/x", NULL, 200);
    assert_non_null(json_object_get(json_object_get(held, "metadata"), "deletionTimestamp"));
    json_decref(held);
    sim_cluster_clear(&cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_ending_stays),
        cmocka_unit_test(test_the_content_of_a_definition_goes_and_then_itself),
        cmocka_unit_test(test_the_content_of_a_namespace_goes_and_then_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
