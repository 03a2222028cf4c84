/* Status answers: the texts were taken down from a v1.36 server. */
#include "core/sim/support/kube.h"
#include "sim/object/status.h"
#include "sim/validate/cause.h"

static void test_not_found_names_resource_and_name(void **state)
{
    assert_json(
        sim_status_not_found(kind_named("pods"), "x"),
        "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'pods \\'x\\' not "
        "found','reason':'NotFound','details':{'name':'x','kind':'pods'},'code':404}");
    assert_json(
        sim_status_not_found(kind_named("deployments"), "x"),
        "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'deployments.apps "
        "\\'x\\' not found','reason':'NotFound','details':{'name':'x','group':'apps','kind':'deployments'},"
        "'code':404}");
}

static void test_conflicts_have_two_reasons(void **state)
{
    json_t *exists = sim_status_already_exists(kind_named("configmaps"), "m1");
    assert_text_at(exists, "reason", "AlreadyExists");
    assert_text_at(exists, "message", "configmaps \"m1\" already exists");
    assert_int_equal(sim_status_code(exists), 409);
    json_decref(exists);

    json_t *modified = sim_status_modified(kind_named("configmaps"), "m1");
    assert_text_at(modified, "reason", "Conflict");
    assert_text_at(
        modified, "message",
        "Operation cannot be fulfilled on configmaps \"m1\": the object has been modified; please apply "
        "your changes to the latest version and try again");
    assert_int_equal(sim_status_code(modified), 409);
    json_decref(modified);
}

static void test_an_invalid_object_names_its_kind_and_the_cause(void **state)
{
    assert_json(
        sim_status_invalid(kind_named("configmaps"), "", "FieldValueRequired", "metadata.name", NULL,
                           "name or generateName is required"),
        "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'ConfigMap \\'\\' is "
        "invalid: metadata.name: Required value: name or generateName is required','reason':'Invalid',"
        "'details':{'kind':'ConfigMap','causes':[{'reason':'FieldValueRequired','message':'Required value: "
        "name or generateName is required','field':'metadata.name'}]},'code':422}");
}

/* Nothing is taken for good that was not looked at. */
static void test_an_error_in_a_check_is_no_lack_of_problems(void **state)
{
    json_t *causes = json_pack("[o]", sim_cause("FieldValueForbidden", "c", NULL, "no"));
    lua_State *L = sim_lua_take("sim.checks.forms", "label");
    lua_pushnil(L);
    sim_add_causes(causes, L);
    json_t *status = sim_status_invalid_causes(kind_named("deployments"), "d", causes);
    assert_int_equal(sim_status_code(status), 500);
    assert_text_at(status, "message",
                   "Internal error occurred: Lua of the simulator failed, as its log says");
    json_decref(status);
}

static void test_several_causes_stand_in_brackets(void **state)
{
    json_t *causes = json_array(), *value = json_string("a\"b"), *zero = json_integer(0);
    json_array_append_new(causes, sim_cause("FieldValueInvalid", "a", value, "is wrong"));
    json_array_append_new(causes, sim_cause("FieldValueInvalid", "b", zero, ""));
    json_array_append_new(causes, sim_cause("FieldValueForbidden", "c", value, "no"));
    json_t *status = sim_status_invalid_causes(kind_named("deployments"), "d", causes);
    assert_text_at(
        status, "message",
        "Deployment.apps \"d\" is invalid: [a: Invalid value: \"a\\\"b\": is wrong, b: Invalid value: 0, "
        "c: Forbidden: no]");
    json_decref(status);
    json_decref(value);
    json_decref(zero);
}

/* */
static void test_a_version_from_the_future_is_a_timeout_with_a_cause(void **state)
{
    assert_json(
        sim_status_too_large(100, 7),
        "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'Timeout: Too large "
        "resource version: 100, current: 7','reason':'Timeout','details':{'causes':[{'reason':"
        "'ResourceVersionTooLarge','message':'Too large resource version'}],'retryAfterSeconds':1},"
        "'code':504}");
}

/* */
static void test_an_expired_list_may_carry_a_token(void **state)
{
    json_t *with = sim_status_expired("too old", "abc"), *without = sim_status_expired("too old", NULL);
    assert_json_at(with, "metadata", "{'continue':'abc'}");
    assert_json_at(without, "metadata", "{}");
    assert_text_at(with, "reason", "Expired");
    assert_int_equal(sim_status_code(with), 410);
    json_decref(with);
    json_decref(without);
}

static void test_success_has_details_and_no_code(void **state)
{
    json_t *status = sim_status_success(kind_named("configmaps"), "m1", "u-1");
    assert_int_equal(sim_status_code(status), 200);
    assert_json(status,
                "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success','details':{'name':'m1',"
                "'kind':'configmaps','uid':'u-1'}}");
}

static void test_the_rest_has_codes_and_reasons(void **state)
{
    struct {
        json_t *status;
        int code;
        const char *reason, *message;
    } all[] = {
        {sim_status_bad_request("no"), 400, "BadRequest", "no"},
        {sim_status_not_acceptable(false), 406, "NotAcceptable",
         "only the following media types are accepted: application/json, application/yaml, "
         "application/vnd.kubernetes.protobuf"},
        {sim_status_unsupported_media("application/json"), 415, "UnsupportedMediaType",
         "the body of the request was in an unknown format - accepted media types include: application/json"},
        {sim_status_generic(422), 422, "Invalid",
         "the server rejected our request due to an error in our request"},
        {sim_status_generic(404), 404, "NotFound", "the server could not find the requested resource"},
        {sim_status_generic(418), 418, "",
         "the server responded with the status code 418 but did not return more information"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_int_equal(sim_status_code(all[i].status), all[i].code);
        assert_text_at(all[i].status, "reason", all[i].reason);
        assert_text_at(all[i].status, "message", all[i].message);
        assert_text_at(all[i].status, "status", "Failure");
        json_decref(all[i].status);
    }
}

static void test_bytes_that_are_no_text_do_not_hide_the_response(void **state)
{
    json_t *status = sim_status_bad_request("bad \xff byte");
    assert_text_at(status, "message", "bad ? byte");
    json_decref(status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_found_names_resource_and_name),
        cmocka_unit_test(test_conflicts_have_two_reasons),
        cmocka_unit_test(test_an_invalid_object_names_its_kind_and_the_cause),
        cmocka_unit_test(test_an_error_in_a_check_is_no_lack_of_problems),
        cmocka_unit_test(test_several_causes_stand_in_brackets),
        cmocka_unit_test(test_a_version_from_the_future_is_a_timeout_with_a_cause),
        cmocka_unit_test(test_an_expired_list_may_carry_a_token),
        cmocka_unit_test(test_success_has_details_and_no_code),
        cmocka_unit_test(test_the_rest_has_codes_and_reasons),
        cmocka_unit_test(test_bytes_that_are_no_text_do_not_hide_the_response),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
