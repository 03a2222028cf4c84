/* Kubernetes' validations by tables. Messages were taken down from a v1.36 server; spec/real/ compares more
 * of them. */
#include "sim/validate/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/text/tree.h"

/* "FIELD: MESSAGE" of each cause, a line each. */
static void assert_causes(json_t *causes, const char *expected)
{
    struct buf text = {0};
    json_t *cause;
    size_t i;
    json_array_foreach (causes, i, cause)
        buf_printf(&text, "%s: %s\n", sim_text_at(cause, "field"), sim_text_at(cause, "message"));
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
    json_decref(causes);
}

static json_t *checked(const char *kind, const char *object)
{
    json_t *value = js(object), *causes = json_array();
    sim_rules_check(kind, value, causes);
    json_decref(value);
    return causes;
}

static json_t *changed(const char *kind, const char *old, const char *object)
{
    json_t *before = js(old), *after = js(object), *causes = json_array();
    sim_rules_check_change(kind, before, after, causes);
    json_decref(before);
    json_decref(after);
    return causes;
}

static void test_containers_are_checked_one_by_one(void **state)
{
    assert_causes(
        checked("Pod", "{'spec':{'containers':[{'name':'a','image':'i'},{'name':'a'},"
                       "{'image':'i','ports':[{'containerPort':0},{'containerPort':65536}]}]}}"),
        "spec.containers[1].image: Required value\n"
        "spec.containers[1].name: Duplicate value: \"a\"\n"
        "spec.containers[2].name: Required value\n"
        "spec.containers[2].ports[0].containerPort: Required value\n"
        "spec.containers[2].ports[1].containerPort: Invalid value: 65536: must be between 1 and 65535, "
        "inclusive\n");
    assert_causes(checked("Pod", "{'spec':{'containers':[{'name':'a','image':'i'}]}}"), "");
    assert_causes(checked("Unknown", "{}"), "");
}

static void test_workloads_select_their_template(void **state)
{
    assert_causes(
        checked("Deployment", "{'spec':{'replicas':-1,'selector':{'matchLabels':{'a':'b'}},'template':{"
                              "'metadata':{'labels':{'a':'c'}},'spec':{'restartPolicy':'Never','containers':"
                              "[{'name':'a','image':'i'}]}}}}"),
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0\n"
        "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template "
        "`labels`\n"
        "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"\n");
}

static void test_some_fields_keep_their_value(void **state)
{
    assert_causes(changed("Deployment", "{'spec':{'selector':{'matchLabels':{'a':'b'}}}}",
                          "{'spec':{'selector':{'matchLabels':{'a':'c'}}}}"),
                  "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"c\"}}: field is immutable\n");
    assert_causes(changed("Secret", "{'type':'Opaque'}", "{'type':'x'}"),
                  "type: Invalid value: \"x\": field is immutable\n");
    assert_causes(changed("Secret", "{'type':'Opaque'}", "{'type':'Opaque','data':{}}"), "");
    assert_causes(changed("Secret", "{}", "{'type':'x'}"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_containers_are_checked_one_by_one),
        cmocka_unit_test(test_workloads_select_their_template),
        cmocka_unit_test(test_some_fields_keep_their_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
