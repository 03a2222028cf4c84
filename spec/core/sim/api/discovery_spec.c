/* Discovery in both forms, as kubectl and client-go read it. */
#include <stdlib.h>
#include <string.h>

#include "core/sim/support/kube.h"
#include "sim/api/discovery.h"
#include "sim/kinds/kinds.h"
#include "sim/object/crd.h"
#include "sim/text/tree.h"

static const char v2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
static const char kubectl_accept[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/"
    "json;g=apidiscovery.k8s.io;"
    "v=v2beta1;as=APIGroupDiscoveryList,application/json";

static json_t *discover(const char *path, const char *accept, const char *type)
{
    const char *content_type = NULL;
    const struct sim_kind_list *list = sim_builtin_kinds();
    json_t *answer = sim_discovery(path, accept, "here:80", list->kinds, list->count, &content_type);
    if (answer) assert_string_equal(content_type, type);
    return answer;
}

static json_t *plain(const char *path)
{
    return discover(path, NULL, "application/json");
}

/* The element of a list of maps in which `key` is `value`; borrowed. */
static json_t *pick(const json_t *list, const char *key, const char *value)
{
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item)
        if (strcmp(sim_text_at(item, key), value) == 0) return item;
    fail_msg("no %s %s", key, value);
    return NULL;
}

static void test_api_has_the_core_versions(void **state)
{
    assert_json(plain("/api"), "{'kind':'APIVersions','versions':['v1'],'serverAddressByClientCIDRs':"
                               "[{'clientCIDR':'0.0.0.0/0','serverAddress':'here:80'}]}");
}

static void test_apis_has_the_groups(void **state)
{
    json_t *answer = plain("/apis");
    assert_text_at(answer, "kind", "APIGroupList");
    assert_int_equal(json_array_size(json_object_get(answer, "groups")), 20);
    assert_json(json_incref(pick(json_object_get(answer, "groups"), "name", "apps")),
                "{'name':'apps','versions':[{'groupVersion':'apps/v1','version':'v1'}],'preferredVersion':{"
                "'groupVersion':'apps/v1','version':'v1'}}");
    json_decref(answer);
    assert_json(plain("/apis/apps"),
                "{'kind':'APIGroup','apiVersion':'v1','name':'apps','versions':[{'groupVersion':"
                "'apps/v1','version':'v1'}],'preferredVersion':{'groupVersion':'apps/v1',"
                "'version':'v1'}}");
}

static void test_a_version_lists_its_resources(void **state)
{
    json_t *answer = plain("/api/v1"), *resources = json_object_get(answer, "resources");
    assert_text_at(answer, "groupVersion", "v1");
    assert_json(
        json_incref(pick(resources, "name", "pods")),
        "{'name':'pods','singularName':'pod','namespaced':true,'kind':'Pod','verbs':['create','delete',"
        "'deletecollection','get','list','patch','update','watch'],'shortNames':['po'],'categories':['all'],"
        "'storageVersionHash':'xPOwRZ+Yhw8='}");
    assert_json(
        json_incref(pick(resources, "name", "pods/status")),
        "{'name':'pods/status','singularName':'','namespaced':true,'kind':'Pod','verbs':['get','patch',"
        "'update']}");
    /* Namespaces cannot be deleted all at once. */
    assert_json_at(pick(resources, "name", "namespaces"), "verbs",
                   "['create','delete','get','list','patch','update','watch']");
    json_decref(answer);
    answer = plain("/apis/coordination.k8s.io/v1");
    assert_text_at(answer, "groupVersion", "coordination.k8s.io/v1");
    assert_text_at(answer, "apiVersion", "v1");
    json_decref(answer);
}

static void test_what_is_not_there_is_nothing(void **state)
{
    static const char *const paths[] = {"/apis/nope", "/apis/apps/v9",      "/api/v2",      "/foo",
                                        "/",          "/apis/apps/v1/pods", "/api/v1/pods", "/apis//v1"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) assert_null(plain(paths[i]));
}

static void test_the_version_is_that_of_a_real_server(void **state)
{
    json_t *answer = plain("/version");
    assert_text_at(answer, "gitVersion", "v1.36.3");
    assert_text_at(answer, "major", "1");
    assert_text_at(answer, "minor", "36");
    json_decref(answer);
}

static void test_kubectl_gets_the_aggregated_form(void **state)
{
    json_t *answer = discover("/apis", kubectl_accept, v2), *items = json_object_get(answer, "items");
    assert_text_at(answer, "kind", "APIGroupDiscoveryList");
    assert_text_at(answer, "apiVersion", "apidiscovery.k8s.io/v2");
    assert_int_equal(json_array_size(items), 20);
    assert_text_at(json_array_get(items, 0), "metadata.name", "apiregistration.k8s.io");
    json_t *version = json_array_get(json_object_get(json_array_get(items, 1), "versions"), 0);
    assert_text_at(version, "version", "v1");
    assert_text_at(version, "freshness", "Current");
    assert_json(
        json_incref(pick(json_object_get(version, "resources"), "resource", "deployments")),
        "{'resource':'deployments','responseKind':{'group':'','version':'','kind':'Deployment'},'scope':"
        "'Namespaced','singularResource':'deployment','verbs':['create','delete','deletecollection','get',"
        "'list','patch','update','watch'],'shortNames':['deploy'],'categories':['all'],'subresources':[{"
        "'subresource':'scale','responseKind':{'group':'autoscaling','version':'v1','kind':'Scale'},'verbs':["
        "'get','patch','update']},{'subresource':'status','responseKind':{'group':'','version':'','kind':'"
        "Deployment'},'verbs':['get',"
        "'patch','update']}]}");
    json_decref(answer);
}

static void test_subresources_and_reviews(void **state)
{
    json_t *answer = plain("/api/v1"), *list = json_object_get(answer, "resources");
    assert_json(
        json_incref(pick(list, "name", "pods/binding")),
        "{'name':'pods/binding','singularName':'','namespaced':true,'kind':'Binding','verbs':['create']}");
    assert_json(
        json_incref(pick(list, "name", "namespaces/finalize")),
        "{'name':'namespaces/finalize','singularName':'','namespaced':false,'kind':'Namespace','verbs':["
        "'update']}");
    json_decref(answer);
    answer = plain("/apis/authentication.k8s.io/v1");
    assert_json(json_incref(pick(json_object_get(answer, "resources"), "name", "tokenreviews")),
                "{'name':'tokenreviews','singularName':'tokenreview','namespaced':false,'kind':'TokenReview',"
                "'verbs':['create']}");
    json_decref(answer);
}

static void test_the_core_group_has_no_name_in_the_aggregated_form(void **state)
{
    json_t *answer = discover("/api", kubectl_accept, v2), *items = json_object_get(answer, "items");
    assert_int_equal(json_array_size(items), 1);
    assert_json_at(json_array_get(items, 0), "metadata", "{}");
    json_decref(answer);
}

static void test_an_older_client_gets_its_version_of_the_aggregated_form(void **state)
{
    static const char v2beta1[] = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
    json_t *answer = discover("/apis", v2beta1, v2beta1);
    assert_text_at(answer, "apiVersion", "apidiscovery.k8s.io/v2beta1");
    json_decref(answer);
    json_decref(
        discover("/apis", "application/vnd.kubernetes.protobuf,application/json", "application/json"));
    json_decref(
        discover("/apis", "application/json;g=other;v=v2;as=APIGroupDiscoveryList", "application/json"));
}

static void test_custom_kinds_come_and_go(void **state)
{
    struct sim_kind v1 = {.group = "example.com",
                          .version = "v1",
                          .plural = "widgets",
                          .singular = "widget",
                          .kind = "Widget",
                          .custom = true,
                          .has_status = true,
                          .has_scale = true};
    struct sim_kind beta = v1;
    beta.version = "v1beta1";
    beta.not_storage = true;
    const struct sim_kind *kinds[] = {&v1, &beta};
    const char *type;
    json_t *answer = sim_discovery("/apis/example.com", NULL, "here:80", kinds, 2, &type);
    assert_json_at(answer, "preferredVersion", "{'groupVersion':'example.com/v1','version':'v1'}");
    assert_int_equal(json_array_size(json_object_get(answer, "versions")), 2);
    json_decref(answer);

    for (size_t i = 0; i < 2; i++) { /* the hash is that of the stored version */
        answer = sim_discovery(i ? "/apis/example.com/v1beta1" : "/apis/example.com/v1", NULL, "here:80",
                               kinds, 2, &type);
        assert_text_at(json_array_get(json_object_get(answer, "resources"), 0), "storageVersionHash",
                       "gIwvi5rymmg=");
        json_decref(answer);
    }
    answer = sim_discovery("/apis", v2, "here:80", kinds, 2, &type);
    json_t *group = json_array_get(json_object_get(answer, "items"), 0);
    json_t *resource = json_array_get(
        json_object_get(json_array_get(json_object_get(group, "versions"), 1), "resources"), 0);
    assert_json_at(resource, "responseKind", "{'group':'example.com','version':'v1beta1','kind':'Widget'}");
    assert_text_at(resource, "scope", "Cluster");
    assert_json(json_incref(pick(json_object_get(resource, "subresources"), "subresource", "scale")),
                "{'subresource':'scale','responseKind':{'group':'autoscaling','version':'v1','kind':'Scale'},"
                "'verbs':["
                "'get','patch','update']}");
    json_decref(answer);

    v1.gone = true;
    answer = sim_discovery("/apis/example.com", NULL, "here:80", kinds, 2, &type);
    assert_json_at(answer, "preferredVersion", "{'groupVersion':'example.com/v1beta1','version':'v1beta1'}");
    json_decref(answer);
    beta.gone = true;
    assert_null(sim_discovery("/apis/example.com", NULL, "here:80", kinds, 2, &type));
    assert_null(sim_discovery("/apis/example.com/v1", NULL, "here:80", kinds, 2, &type));
    assert_json(sim_discovery("/apis", NULL, "here:80", kinds, 2, &type),
                "{'kind':'APIGroupList','apiVersion':'v1','groups':[]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_api_has_the_core_versions),
        cmocka_unit_test(test_apis_has_the_groups),
        cmocka_unit_test(test_a_version_lists_its_resources),
        cmocka_unit_test(test_what_is_not_there_is_nothing),
        cmocka_unit_test(test_the_version_is_that_of_a_real_server),
        cmocka_unit_test(test_kubectl_gets_the_aggregated_form),
        cmocka_unit_test(test_subresources_and_reviews),
        cmocka_unit_test(test_the_core_group_has_no_name_in_the_aggregated_form),
        cmocka_unit_test(test_an_older_client_gets_its_version_of_the_aggregated_form),
        cmocka_unit_test(test_custom_kinds_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
