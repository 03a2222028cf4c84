/* Field selectors: contract X-6. The messages were taken down from a v1.36 server. */
#include <stdlib.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/selector.h"

static bool selects(const char *plural, const char *text, const struct sim_fields *fields)
{
    char *message = NULL;
    struct sim_selector *selector = sim_field_selector_parse(kind_named(plural), text, &message);
    if (!selector) fail_msg("%s: %s", text, message);
    bool matched = sim_selector_matches_fields(selector, fields);
    sim_selector_free(selector);
    return matched;
}

static const struct sim_fields pod = {
    .name = "web-1", .namespace_ = "shop", .phase = "Running", .node_name = "node-a"};

static void test_pods_are_selected_by_name_namespace_phase_and_node(void **state)
{
    static const char *const good[] = {"",
                                       "metadata.name=web-1",
                                       "metadata.name==web-1",
                                       "metadata.namespace!=other",
                                       "status.phase=Running,spec.nodeName=node-a",
                                       "spec.host=node-a",
                                       ",,status.phase!=Failed,",
                                       "="};
    static const char *const bad[] = {"metadata.name=web-2", "metadata.name!=web-1",
                                      "spec.nodeName=", "status.phase=Running,metadata.namespace=other"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) assert_true(selects("pods", good[i], &pod));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(selects("pods", bad[i], &pod));
}

static void test_a_missing_field_is_the_empty_text(void **state)
{
    struct sim_fields unbound = {.name = "web-1"};
    assert_true(selects("pods", "spec.nodeName=", &unbound));
    assert_true(selects("pods", "spec.nodeName!=node-a", &unbound));
    assert_false(selects("pods", "spec.nodeName!=", &unbound));
}

static void test_backslashes_keep_commas_equal_signs_and_themselves(void **state)
{
    struct sim_fields odd = {.name = "a,b=c\\d"};
    assert_true(selects("configmaps", "metadata.name=a\\,b\\=c\\\\d", &odd));
}

static void test_other_fields_are_read_from_the_object(void **state)
{
    json_t *event =
        js("{'involvedObject':{'name':'web-1','uid':'u'},'reason':'Pulled','reportingComponent':'kubelet'}");
    json_t *node = js("{'spec':{'unschedulable':true}}"), *free_node = js("{'spec':{}}");
    struct sim_fields of_event = {.name = "e", .object = event};
    assert_true(
        selects("events", "involvedObject.name=web-1,involvedObject.uid=u,source=kubelet", &of_event));
    assert_false(selects("events", "reason!=Pulled", &of_event));
    assert_true(selects("nodes", "spec.unschedulable=true", &(struct sim_fields){.object = node}));
    assert_true(selects("nodes", "spec.unschedulable=false", &(struct sim_fields){.object = free_node}));
    json_decref(event);
    json_decref(node);
    json_decref(free_node);
}

static void test_it_reports_when_it_needs_the_object(void **state)
{
    char *message = NULL;
    struct sim_selector *plain = sim_field_selector_parse(kind_named("pods"), "spec.nodeName=a", &message);
    struct sim_selector *deep =
        sim_field_selector_parse(kind_named("pods"), "spec.schedulerName=a", &message);
    struct sim_selector *all = sim_field_selector_parse(kind_named("pods"), NULL, &message);
    assert_false(sim_selector_needs_object(plain));
    assert_true(sim_selector_needs_object(deep));
    sim_selector_free(plain);
    sim_selector_free(deep);
    sim_selector_free(all);
}

static const char *const refused[][3] = {
    {"pods", "foo=bar", "field label not supported: foo"},
    {"pods", "metadata.name = x", "field label not supported: metadata.name "},
    {"pods", "!=x", "field label not supported: "},
    {"nodes", "metadata.namespace=x", "field label not supported: metadata.namespace"},
    {"namespaces", "metadata.namespace=x", "field label not supported: metadata.namespace"},
    {"secrets", "status.phase=x", "field label not supported: status.phase"},
    {"configmaps", "foo=bar",
     "\"foo\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""},
    {"deployments", "status.phase=x",
     "\"status.phase\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""},
    {"pods", "metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
    {"pods", "metadata.name=a=b", "invalid field selector: unescaped character in value: 61"},
    {"pods", "metadata.name=a\\x", "invalid field selector: invalid escape sequence: \\x"},
    {"pods", "metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"},
    {"pods", "metadata.name in (a)",
     "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'"},
    /* Terms are looked at in their order by name. */
    {"pods", "metadata.name=a,foo=b,aaa",
     "invalid selector: 'metadata.name=a,foo=b,aaa'; can't understand 'aaa'"},
};

static void test_bad_selectors_get_the_server_s_words(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        char *message = NULL;
        assert_null(sim_field_selector_parse(kind_named(refused[i][0]), refused[i][1], &message));
        assert_string_equal(message, refused[i][2]);
        free(message);
    }
}

static void test_custom_kinds_know_name_and_namespace_only(void **state)
{
    struct sim_kind widget = {.group = "example.com", .kind = "Widget", .namespaced = true, .custom = true};
    char *message = NULL;
    struct sim_selector *selector = sim_field_selector_parse(&widget, "metadata.namespace=a", &message);
    assert_non_null(selector);
    sim_selector_free(selector);
    assert_null(sim_field_selector_parse(&widget, "spec.a=b", &message));
    assert_string_equal(message, "field label not supported: spec.a");
    free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods_are_selected_by_name_namespace_phase_and_node),
        cmocka_unit_test(test_a_missing_field_is_the_empty_text),
        cmocka_unit_test(test_backslashes_keep_commas_equal_signs_and_themselves),
        cmocka_unit_test(test_other_fields_are_read_from_the_object),
        cmocka_unit_test(test_it_reports_when_it_needs_the_object),
        cmocka_unit_test(test_bad_selectors_get_the_server_s_words),
        cmocka_unit_test(test_custom_kinds_know_name_and_namespace_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
