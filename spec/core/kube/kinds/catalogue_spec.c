/* core/kube/catalogue*.c and resource.c: documents of discovery, names, and paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/api/list_watch_path.h"
#include "kube/kinds/catalogue.h"

static const char core_document[] = "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{},"
                                    "\"versions\":[{\"version\":\"v1\",\"freshness\":\"Current\","
                                    "\"resources\":["
                                    "{\"resource\":\"pods\",\"responseKind\":{\"group\":\"\",\"version\":"
                                    "\"v1\",\"kind\":\"Pod\"},\"scope\":\"Namespaced\","
                                    "\"singularResource\":\"pod\",\"verbs\":[\"list\"],\"shortNames\":["
                                    "\"po\"],\"subresources\":[{\"subresource\":\"log\"}]},"
                                    "{\"resource\":\"nodes\",\"responseKind\":{\"kind\":\"Node\"},\"scope\":"
                                    "\"Cluster\",\"singularResource\":\"node\","
                                    "\"shortNames\":[\"no\"]},"
                                    "{\"resource\":\"events\",\"responseKind\":{\"kind\":\"Event\"},"
                                    "\"scope\":\"Namespaced\",\"singularResource\":\"event\","
                                    "\"shortNames\":[\"ev\"]},"
                                    "{\"resource\":\"broken\"}]}]}]}";

#define GROUP(name, versions)    "{\"metadata\":{\"name\":\"" name "\"},\"versions\":[" versions "]}"
#define VERSION(name, resources) "{\"version\":\"" name "\",\"resources\":[" resources "]}"
#define RESOURCE(plural, kind, singular, more)                        \
    "{\"resource\":\"" plural "\",\"responseKind\":{\"kind\":\"" kind \
    "\"},\"scope\":\"Namespaced\",\"singularResource\":\"" singular "\"" more "}"

static const char groups_document[] =
    "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[" GROUP("apps", VERSION("v1", RESOURCE("deployments", "Deployment", "deployment", ",\"shortNames\":[\"deploy\"]"))) "," GROUP(
        "autoscaling",
        VERSION("v2", RESOURCE("scalers", "Scaler", "scaler", "")) "," VERSION(
            "v1",
            RESOURCE("scalers", "Scaler", "scaler", "") "," RESOURCE(
                "olds", "Old", "old",
                ""))) "," GROUP("events.k8s.io",
                                VERSION(
                                    "v1",
                                    RESOURCE(
                                        "events",
                                        "Event",
                                        "event",
                                        ",\"shortNames\":[\"ev\"]"))) "," GROUP("metrics.k8s.io",
                                                                                "{\"version\":\"v1beta1\","
                                                                                "\"freshness\":\"Stale\","
                                                                                "\"resources\":[" RESOURCE(
                                                                                    "pods", "PodMetrics", "",
                                                                                    "") "]}") "," GROUP("a."
                                                                                                        "exam"
                                                                                                        "ple."
                                                                                                        "com",
                                                                                                        VERSION(
                                                                                                            "v1",
                                                                                                            RESOURCE(
                                                                                                                "widgets",
                                                                                                                "Widget",
                                                                                                                "widget",
                                                                                                                ",\"shortNames\":[\"wd\",\"po\"]"))) "," GROUP("b.example.com",
                                                                                                                                                               VERSION(
                                                                                                                                                                   "v1",
                                                                                                                                                                   RESOURCE(
                                                                                                                                                                       "widgets",
                                                                                                                                                                       "Widget",
                                                                                                                                                                       "widget",
                                                                                                                                                                       "")) "," VERSION("v2",
                                                                                                                                                                                        RESOURCE(
                                                                                                                                                                                            "widgets",
                                                                                                                                                                                            "Widget",
                                                                                                                                                                                            "widget",
                                                                                                                                                                                            ""))) "]}";

static void parse(struct catalogue *catalogue, const char *text,
                  void (*fn)(struct catalogue *, const struct tape *))
{
    struct tape_parser *parser = tape_parser_new();
    struct tape tape;
    char *padded = xcalloc(1, strlen(text) + TAPE_PADDING);
    memcpy(padded, text, strlen(text));
    assert_true(tape_parse(parser, padded, strlen(text), &tape, NULL));
    fn(catalogue, &tape);
    free(padded);
    tape_parser_free(parser);
}

static void add_core(struct catalogue *catalogue, const struct tape *tape)
{
    catalogue_add_aggregated(catalogue, tape, 0);
}

static void add_groups(struct catalogue *catalogue, const struct tape *tape)
{
    catalogue_add_aggregated(catalogue, tape, 1);
}

static int setup(void **state)
{
    struct catalogue *catalogue = catalogue_new();
    parse(catalogue, groups_document, add_groups); /* whichever answer comes first */
    parse(catalogue, core_document, add_core);
    catalogue_finish(catalogue);
    *state = catalogue;
    return 0;
}

static int teardown(void **state)
{
    catalogue_free(*state);
    return 0;
}

/* "group/version plural Kind" or the error's text. */
static void expect_name(struct catalogue *catalogue, const char *name, const char *expected)
{
    struct resource resource;
    struct err err;
    struct buf text = {0};
    if (catalogue_resolve(catalogue, str_of(name), &resource, &err)) {
        resource_api_version(&resource, &text);
        buf_printf(&text, " %s %s%s", resource.plural, resource.kind, resource.namespaced ? "" : " cluster");
        resource_clear(&resource);
    } else {
        buf_puts(&text, err.text);
    }
    if (strcmp(buf_text(&text), expected) != 0)
        fail_msg("%s: \"%s\" is not \"%s\"", name, buf_text(&text), expected);
    buf_clear(&text);
}

static void test_names_are_taken_as_kubectl_takes_them(void **state)
{
    static const char *const cases[][2] = {
        {"pods", "v1 pods Pod"},
        {"po", "v1 pods Pod"}, /* the core group's, not the CRD's */
        {"Pod", "v1 pods Pod"},
        {"pod", "v1 pods Pod"},
        {"PODS", "v1 pods Pod"},
        {"v1/Pod", "v1 pods Pod"},
        {"no", "v1 nodes Node cluster"},
        {"deployments.apps", "apps/v1 deployments Deployment"},
        {"deploy.apps", "apps/v1 deployments Deployment"},
        {"deployments.v1.apps", "apps/v1 deployments Deployment"},
        {"apps/v1/Deployment", "apps/v1 deployments Deployment"},
        {"apps/v1/deploy", "the server doesn't have a resource type \"apps/v1/deploy\""},
        {"events", "v1 events Event"},
        {"ev", "v1 events Event"},
        {"events.events.k8s.io", "events.k8s.io/v1 events Event"},
        {"events.v1.events.k8s.io", "events.k8s.io/v1 events Event"},
        {"pods.metrics.k8s.io", "metrics.k8s.io/v1beta1 pods PodMetrics"},
        {"PodMetrics", "metrics.k8s.io/v1beta1 pods PodMetrics"},
        {"scalers", "autoscaling/v2 scalers Scaler"}, /* the preferred version */
        {"scalers.v1.autoscaling", "autoscaling/v1 scalers Scaler"},
        {"autoscaling/v1/Scaler", "autoscaling/v1 scalers Scaler"},
        {"olds", "autoscaling/v1 olds Old"}, /* not in the preferred version */
        {"widgets.b.example.com", "b.example.com/v1 widgets Widget"},
        {"widgets.v2.b.example.com", "b.example.com/v2 widgets Widget"},
        {"widgets", "\"widgets\" is ambiguous: widgets.a.example.com, widgets.b.example.com"},
        {"Widget", "\"Widget\" is ambiguous: widgets.a.example.com, widgets.b.example.com"},
        {"wd", "a.example.com/v1 widgets Widget"},
        {"nothing", "the server doesn't have a resource type \"nothing\""},
        {"pods.apps", "the server doesn't have a resource type \"pods.apps\""},
        {"v2/Pod", "the server doesn't have a resource type \"v2/Pod\""},
        {"broken", "the server doesn't have a resource type \"broken\""},
        {"", "the server doesn't have a resource type \"\""},
        {"/", "the server doesn't have a resource type \"/\""},
        {".", "the server doesn't have a resource type \".\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) expect_name(*state, cases[i][0], cases[i][1]);
}

static void test_stale_groups_are_named_and_still_there(void **state)
{
    assert_string_equal(catalogue_failures(*state),
                        "metrics.k8s.io/v1beta1: the server's discovery information is stale");
}

static void add_legacy(struct catalogue *catalogue, const struct tape *tape)
{
    catalogue_add_legacy(catalogue, tape, STR("apps"), STR("v1"), 1, 0);
}

static void test_legacy_documents_give_the_same(void **state)
{
    struct catalogue *catalogue = catalogue_new();
    parse(catalogue,
          "{\"kind\":\"APIResourceList\",\"groupVersion\":\"apps/"
          "v1\",\"resources\":[{\"name\":\"deployments\",\"singularName\":"
          "\"deployment\",\"namespaced\":true,\"kind\":\"Deployment\",\"verbs\":[\"list\"],\"shortNames\":["
          "\"deploy\"]},"
          "{\"name\":\"deployments/scale\",\"namespaced\":true,\"kind\":\"Scale\"}]}",
          add_legacy);
    catalogue_add_failure(catalogue, "x/v1", "down");
    catalogue_add_failure(catalogue, "y/v1", "out");
    catalogue_finish(catalogue);
    expect_name(catalogue, "deploy", "apps/v1 deployments Deployment");
    expect_name(catalogue, "Scale", "the server doesn't have a resource type \"Scale\"");
    assert_string_equal(catalogue_failures(catalogue), "x/v1: down; y/v1: out");
    catalogue_free(catalogue);
}

static void test_a_kind_may_be_in_its_group_that_did_not_respond(void **state)
{
    struct catalogue *catalogue = catalogue_new();
    assert_false(catalogue_may_have(catalogue, STR("widgets.x.io")));
    catalogue_add_failure(catalogue, "x.io/v1", "down");
    assert_true(catalogue_may_have(catalogue, STR("widgets.x.io")));
    assert_true(catalogue_may_have(catalogue, STR("widgets.v1.x.io")));
    assert_true(catalogue_may_have(catalogue, STR("x.io/v1/Widget")));
    assert_false(catalogue_may_have(catalogue, STR("widgets.max.io")));
    assert_false(catalogue_may_have(catalogue, STR("x.io.net/v1/Widget")));
    assert_false(catalogue_may_have(catalogue, STR("widgets.more.x.io"))); /* another group */
    assert_false(catalogue_may_have(catalogue, STR("widgets.v2.x.io")));
    assert_false(catalogue_may_have(catalogue, STR("x.io/v2/Widget")));
    assert_false(catalogue_may_have(catalogue, STR("x.io")));
    assert_false(catalogue_may_have(catalogue, STR("v1/Widget")));
    assert_false(catalogue_may_have(catalogue, STR("widgets"))); /* a mistake, as other groups responded */
    catalogue->partial = true;
    assert_true(catalogue_may_have(catalogue, STR("widgets")));
    catalogue_free(catalogue);
}

static void test_a_kind_without_a_group_may_be_in_the_core_group_that_did_not_respond(void **state)
{
    struct catalogue *catalogue = catalogue_new();
    catalogue_add_failure(catalogue, "v1", "503");
    assert_true(catalogue_may_have(catalogue, STR("pods")));
    assert_true(catalogue_may_have(catalogue, STR("v1/Pod")));
    assert_false(catalogue_may_have(catalogue, STR("widgets.x.io")));
    catalogue_free(catalogue);
}

static void test_a_kind_may_be_anywhere_while_a_root_does_not_respond(void **state)
{
    struct catalogue *catalogue = catalogue_new();
    catalogue_add_failure(catalogue, "/api", "503");
    assert_true(catalogue_may_have(catalogue, STR("pods")));
    assert_false(catalogue_may_have(catalogue, STR("widgets.x.io")));
    catalogue_add_failure(catalogue, "/apis", "503");
    assert_true(catalogue_may_have(catalogue, STR("widgets.x.io")));
    catalogue->unlisted[0] = catalogue->unlisted[1] = true; /* closed for good */
    assert_false(catalogue_may_have(catalogue, STR("pods")));
    assert_false(catalogue_may_have(catalogue, STR("widgets.x.io")));
    catalogue_free(catalogue);
}

/* "pods\0x" is not pods. */
static void test_names_with_nul_bytes_are_those_of_no_kind(void **state)
{
    struct catalogue *catalogue = catalogue_new();
    parse(catalogue,
          "{\"kind\":\"APIResourceList\",\"resources\":["
          "{\"name\":\"pods\\u0000x\",\"kind\":\"Pod\",\"namespaced\":true},"
          "{\"name\":\"nodes\",\"kind\":\"Node\\u0000\"},"
          "{\"name\":\"things\",\"kind\":\"Thing\",\"shortNames\":[\"th\\u0000\",\"tg\"]}]}",
          add_legacy);
    catalogue_finish(catalogue);
    expect_name(catalogue, "pods", "the server doesn't have a resource type \"pods\"");
    expect_name(catalogue, "nodes", "the server doesn't have a resource type \"nodes\"");
    expect_name(catalogue, "th", "the server doesn't have a resource type \"th\"");
    expect_name(catalogue, "tg", "apps/v1 things Thing cluster");
    catalogue_free(catalogue);
}

static void test_a_group_in_the_name_means_that_the_kind_may_come(void **state)
{
    assert_true(resource_name_has_group(STR("widgets.example.com")));
    assert_true(resource_name_has_group(STR("example.com/v1/Widget")));
    assert_true(resource_name_has_group(STR("apps/v1/Deployment")));
    assert_false(resource_name_has_group(STR("v1/Pod")));
    assert_false(resource_name_has_group(STR("pods")));
    assert_false(resource_name_has_group(STR("")));
}

static struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
static struct resource deployments = {(char *)"apps", (char *)"v1", (char *)"deployments",
                                      (char *)"Deployment", true};

static void test_a_group_is_within_itself_and_those_above_it(void **state)
{
    assert_true(group_is_within(STR("example.com"), "example.com"));
    assert_true(group_is_within(STR("a.b.example.com"), "example.com"));
    assert_false(group_is_within(STR("anexample.com"), "example.com"));
    assert_false(group_is_within(STR("com"), "example.com"));
    assert_false(group_is_within(STR(""), "example.com"));
    assert_false(group_is_within(STR("apps"), ""));
}

static void test_paths_of_objects_are_checked(void **state)
{
    struct buf path = {0};
    struct err err;
    assert_true(resource_object_path(&deployments, STR("shop"), STR("web 1"), STR("status"), &path, &err));
    assert_string_equal(buf_text(&path), "/apis/apps/v1/namespaces/shop/deployments/web%201/status");
    path.len = 0;
    assert_true(resource_object_path(&pods, (struct str){0}, STR("x"), (struct str){0}, &path, &err));
    assert_string_equal(buf_text(&path), "/api/v1/pods/x");
    static const char *const bad[] = {"", ".", "..", "a/b", "a%2Fb"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(resource_object_path(&pods, STR("ns"), str_of(bad[i]), (struct str){0}, &path, &err));
        assert_int_equal(err.code, ERR_INVALID);
    }
    assert_false(resource_object_path(&pods, STR(".."), STR("x"), (struct str){0}, &path, &err));
    assert_string_equal(err.text, "namespace: a name may not be '..'");
    buf_clear(&path);
}

static void expect_path(const struct resource *resource, struct lw_scope scope, struct lw_options options,
                        const char *expected)
{
    struct buf path = {0};
    list_watch_path(resource, &scope, &options, &path);
    assert_string_equal(buf_text(&path), expected);
    buf_clear(&path);
}

/* A-9 and P-2. */
static void test_requests_have_client_go_s_wire_form(void **state)
{
    const struct lw_scope all = {.namespace_ = "", .label_selector = "", .field_selector = ""};
    expect_path(&pods, all, (struct lw_options){.verb = LW_LIST, .resource_version = "0", .limit = 500},
                "/api/v1/pods?limit=500&resourceVersion=0");
    expect_path(&pods, all,
                (struct lw_options){.verb = LW_LIST,
                                    .resource_version = "9",
                                    .resource_version_match = "Exact",
                                    .limit = 500,
                                    .continue_token = "TO+K="},
                "/api/v1/pods?continue=TO%2BK%3D&limit=500");
    expect_path(&pods, all, (struct lw_options){.verb = LW_LIST, .limit = 5, .shard_selector = "a || b"},
                "/api/v1/pods?limit=5&shardSelector=a%20%7C%7C%20b");
    expect_path(&pods, all, (struct lw_options){.verb = LW_LIST, .resource_version = "77"},
                "/api/v1/pods?resourceVersion=77");
    expect_path(&pods, all, (struct lw_options){.verb = LW_LIST}, "/api/v1/pods");
    expect_path(
        &deployments,
        (struct lw_scope){
            .namespace_ = "shop", .label_selector = "a=b,c in (d, e)", .field_selector = "metadata.name=x"},
        (struct lw_options){
            .verb = LW_WATCH, .resource_version = "5", .allow_watch_bookmarks = true, .timeout_seconds = 423},
        "/apis/apps/v1/namespaces/shop/deployments?allowWatchBookmarks=true&fieldSelector=metadata.name%3Dx&"
        "labelSelector=a%3Db%2Cc%20in%20%28d%2C%20e%29&resourceVersion=5&timeoutSeconds=423&watch=true");
    expect_path(&pods, all,
                (struct lw_options){.verb = LW_WATCH,
                                    .resource_version = "",
                                    .resource_version_match = "NotOlderThan",
                                    .allow_watch_bookmarks = true,
                                    .send_initial_events = true,
                                    .timeout_seconds = 300},
                "/api/v1/"
                "pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&"
                "timeoutSeconds=300&"
                "watch=true");
    struct resource nodes = {(char *)"", (char *)"v1", (char *)"nodes", (char *)"Node", false};
    expect_path(&nodes, (struct lw_scope){.namespace_ = "shop"}, (struct lw_options){.verb = LW_LIST},
                "/api/v1/nodes");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_names_are_taken_as_kubectl_takes_them),
        T(test_stale_groups_are_named_and_still_there),
        T(test_legacy_documents_give_the_same),
        T(test_a_kind_may_be_in_its_group_that_did_not_respond),
        T(test_a_kind_without_a_group_may_be_in_the_core_group_that_did_not_respond),
        T(test_a_kind_may_be_anywhere_while_a_root_does_not_respond),
        T(test_names_with_nul_bytes_are_those_of_no_kind),
        T(test_a_group_in_the_name_means_that_the_kind_may_come),
        T(test_a_group_is_within_itself_and_those_above_it),
        T(test_paths_of_objects_are_checked),
        T(test_requests_have_client_go_s_wire_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
