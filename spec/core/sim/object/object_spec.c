/* Stored objects: their text, and what is read from it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/kube.h"
#include "sim/object/object.h"

#define POD                                                                                                  \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"resourceVersion\":\"77\",\"labels\":{\"a\":\"b\"}" \
    ","                                                                                                      \
    "\"annotations\":{\"sent\":\"000\"}},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\"}}"

static struct sim_object *from(const char *text)
{
    return sim_object_from_text(str_of(text));
}

static void expect_slice(const struct sim_object *object, struct sim_span span, const char *expected)
{
    assert_true(str_is(sim_object_slice(object, span), expected));
}

static void test_what_selectors_need_is_read_from_the_text(void **state)
{
    struct sim_object *object = from(POD);
    assert_string_equal(object->key, "ns/p");
    assert_string_equal(sim_object_name(object), "p");
    assert_string_equal(object->phase, "Running");
    assert_string_equal(object->node, "n1");
    assert_int_equal(object->version, 77);
    expect_slice(object, object->labels, "{\"a\":\"b\"}");
    expect_slice(object, object->version_text, "77");
    assert_int_equal(object->metadata.at, strlen("{\"metadata\":"));
    sim_object_unref(object);
}

static void test_little_is_needed(void **state)
{
    struct sim_object *object = from("{\"metadata\":{\"name\":\"n\"}}");
    assert_string_equal(object->key, "n");
    assert_string_equal(object->phase, "");
    assert_int_equal(object->labels.len, 0);
    sim_object_unref(object);
    assert_null(from("{\"metadata\":{}}"));
    assert_null(from("{}"));
    assert_null(from("[]"));
}

static void test_json_loses_kind_and_version_and_is_put_in_order(void **state)
{
    json_t *json =
        json_loads("{\"kind\":\"Pod\",\"spec\":{},\"metadata\":{\"labels\":{},\"uid\":\"u\",\"name\":\"p\"},"
                   "\"apiVersion\":\"v1\"}",
                   0, NULL);
    struct sim_object *object = sim_object_from_json(json);
    assert_string_equal(
        object->text, "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"resourceVersion\":\"0000000000000000\","
                      "\"labels\":{}},\"spec\":{}}");
    sim_object_set_version(object, 1234567890123456);
    assert_int_equal(object->version, 1234567890123456);
    json_t *whole = sim_object_json(object, "Pod", "v1");
    char *text = json_dumps(whole, JSON_COMPACT);
    assert_string_equal(text,
                        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"uid\":\"u\","
                        "\"resourceVersion\":\"1234567890123456\",\"labels\":{}},\"spec\":{}}");
    free(text);
    json_decref(whole);
    json_decref(json);
    sim_object_unref(object);
}

static void expect_renewed(const struct sim_object *object)
{
    assert_string_equal(object->key, "ns/p");
    assert_string_equal(object->phase, "Running");
    assert_string_equal(object->node, "n1");
    expect_slice(object, object->labels, "{\"a\":\"b\"}");
    assert_non_null(strstr(object->text, "\"sent\":\"123\""));
    assert_true(str_ends(sim_object_slice(object, object->metadata), STR("\"}}")));
    json_t *json = json_loads(object->text, 0, NULL);
    assert_non_null(json);
    json_decref(json);
}

static void test_a_renewed_object_has_room_for_a_version_and_keeps_all_else(void **state)
{
    struct sim_object *first = from(POD);
    struct str sent = {strstr(first->text, "000"), 3};
    assert_false(sim_object_has_room(first));
    struct sim_object *second = sim_object_renew(first, sent, STR("123"));
    sim_object_set_version(second, 1234567890123456);
    expect_renewed(second);
    assert_int_equal(second->len, first->len + 14);
    struct sim_object *third = sim_object_renew(second, (struct str){0}, (struct str){0});
    sim_object_unref(first);
    sim_object_unref(second);
    sim_object_set_version(third, 1234567890123457);
    expect_renewed(third);
    expect_slice(third, third->version_text, "1234567890123457");
    sim_object_unref(third);
}

static const char *const pod_fields[] = {"status.phase", "spec.nodeName", "spec.x", NULL};

static void test_selectors_match_labels_and_fields(void **state)
{
    static const struct sim_kind pods = {.group = "",
                                         .version = "v1",
                                         .plural = "pods",
                                         .kind = "Pod",
                                         .namespaced = true,
                                         .field_labels = pod_fields};
    struct sim_object *object = from(POD);
    char *message = NULL;
    struct sim_selector *yes = sim_label_selector_parse("a=b,!c", &message),
                        *no = sim_label_selector_parse("a!=b", &message);
    struct sim_selector *here =
        sim_field_selector_parse(&pods, "metadata.namespace=ns,status.phase=Running,spec.x=", &message);
    struct sim_selector *there = sim_field_selector_parse(&pods, "spec.nodeName!=n1", &message);
    assert_null(message);
    assert_true(sim_object_matches(object, NULL, NULL));
    assert_true(sim_object_matches(object, yes, here));
    assert_false(sim_object_matches(object, no, here));
    assert_false(sim_object_matches(object, yes, there));
    sim_selector_free(yes);
    sim_selector_free(no);
    sim_selector_free(here);
    sim_selector_free(there);
    sim_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_selectors_need_is_read_from_the_text),
        cmocka_unit_test(test_little_is_needed),
        cmocka_unit_test(test_json_loses_kind_and_version_and_is_put_in_order),
        cmocka_unit_test(test_a_renewed_object_has_room_for_a_version_and_keeps_all_else),
        cmocka_unit_test(test_selectors_match_labels_and_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
