/* core/sim/object/apply.c: server-side apply of custom kinds. */
#include "core/sim/support/kube.h"
#include "sim/object/apply.h"
#include "sim/text/tree.h"

static json_t *applied(const json_t *old, const char *given, const char *manager, int64_t now_s)
{
    json_t *config = js(given);
    json_t *object = sim_applied(old, &(const struct sim_apply){config, manager, now_s});
    json_decref(config);
    return object;
}

/* Without who applied what. */
static json_t *content(const json_t *object)
{
    json_t *copy = json_deep_copy(object);
    json_object_del(json_object_get(copy, "metadata"), "managedFields");
    return copy;
}

static void test_what_was_applied_is_noted(void **state)
{
    json_t *object = applied(NULL,
                             "{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'a','labels':"
                             "{'x':'1'}},'spec':{'list':[{'a':1}],'n':1}}",
                             "me", 0);
    assert_json(json_incref(sim_at(object, "metadata.managedFields")),
                "[{'manager':'me','operation':'Apply','apiVersion':'example.com/v1','fieldsType':'FieldsV1',"
                "'fieldsV1':{'f:metadata':{'f:labels':{'f:x':{}}},'f:spec':{'f:list':{},'f:n':{}}},"
                "'time':'1970-01-01T00:00:00Z'}]");
    json_decref(object);
}

static void test_what_is_applied_no_more_goes_and_what_others_wrote_stays(void **state)
{
    json_t *first =
        applied(NULL, "{'metadata':{'name':'a','annotations':{'x':'1','y':'2'}},'list':[1,2],'gone':{'a':1}}",
                "me", 0);
    json_object_set_new(first, "other", json_integer(1));
    json_t *second = applied(first, "{'metadata':{'name':'a','annotations':{'y':'3'}},'list':[3]}", "me", 60);
    assert_json(content(second), "{'metadata':{'name':'a','annotations':{'y':'3'}},'list':[3],'other':1}");
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(sim_at(second, "metadata.managedFields"), 0), "time")),
                        "1970-01-01T00:01:00Z");
    json_t *third = applied(second, "{'more':1}", "him", 90);
    assert_json(content(third),
                "{'metadata':{'name':'a','annotations':{'y':'3'}},'list':[3],'other':1,'more':1}");
    assert_int_equal(json_array_size(sim_at(third, "metadata.managedFields")), 2);
    json_decref(first);
    json_decref(second);
    json_decref(third);
}

static void test_the_same_again_changes_nothing(void **state)
{
    static const char config[] = "{'metadata':{'name':'a'},'spec':{'a':[1]}}";
    json_t *first = applied(NULL, config, "me", 0), *second = applied(first, config, "me", 60);
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_applied_is_noted),
        cmocka_unit_test(test_what_is_applied_no_more_goes_and_what_others_wrote_stays),
        cmocka_unit_test(test_the_same_again_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
