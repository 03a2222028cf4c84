/* Objects in another version than the stored one: autoscaling/v1, whose metrics are JSON in an annotation. */
#include <string.h>

#include "core/sim/support/kube.h"
#include "sim/kinds/kinds.h"
#include "sim/object/convert.h"
#include "sim/text/tree.h"

#define ANNOTATION "autoscaling.alpha.kubernetes.io/metrics"

static const struct sim_kind *scaler(void)
{
    const struct sim_kind_list *list = sim_builtin_kinds();
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->kinds[i]->group, "autoscaling") == 0 && strcmp(list->kinds[i]->version, "v1") == 0)
            return list->kinds[i];
    fail_msg("no autoscaling/v1");
    return NULL;
}

static json_t *stored(const char *annotation)
{
    json_t *object =
        js("{'metadata':{'name':'a'},'spec':{'maxReplicas':3,'targetCPUUtilizationPercentage':70,"
           "'scaleTargetRef':{'kind':'Deployment','name':'web','apiVersion':'apps/v1'}}}");
    json_t *annotations = sim_submap(json_object_get(object, "metadata"), "annotations");
    json_object_set_new(annotations, ANNOTATION, json_string(annotation));
    return sim_to_stored(scaler(), object);
}

#define CPU \
    "{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization','averageUtilization':70}}}"

static void test_an_annotation_is_part_of_a_list(void **state)
{
    json_t *object =
        stored("[{\"type\":\"Pods\",\"pods\":{\"metricName\":\"qps\",\"targetAverageValue\":\"5\"}}]");
    assert_json_at(object, "spec.metrics",
                   "[{'type':'Pods','pods':{'metric':{'name':'qps'},'target':{'averageValue':'5','type':"
                   "'AverageValue'}}}," CPU "]");
    assert_null(sim_at(object, "metadata.annotations"));
    object = sim_from_stored(scaler(), object);
    assert_text_at(object, "spec.scaleTargetRef.name", "web");
    assert_json_at(object, "spec.targetCPUUtilizationPercentage", "70");
    assert_string_equal(
        json_string_value(json_object_get(sim_at(object, "metadata.annotations"), ANNOTATION)),
        "[{\"type\":\"Pods\",\"pods\":{\"metricName\":\"qps\",\"targetAverageValue\":\"5\"}}]");
    json_decref(object);
}

static void test_an_annotation_that_is_no_json_is_left_out(void **state)
{
    static const char *const bad[] = {"{", "", "soon", "[1,", "123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *object = stored(bad[i]);
        assert_json_at(object, "spec.metrics", "[" CPU "]");
        json_decref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_annotation_is_part_of_a_list),
        cmocka_unit_test(test_an_annotation_that_is_no_json_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
