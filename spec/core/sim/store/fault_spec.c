/* Rules of faults: which requests they meet, and what becomes of those. */
#include <string.h>

#include "base/mem.h"
#include "core/sim/support/cluster.h"
#include "core/sim/support/kube.h"
#include "sim/store/fault.h"

#define LIST "GET /api/v1/namespaces/default/configmaps"

static struct sim_cluster cluster;

static int set_up(void **state)
{
    sim_cluster_init(&cluster, 0);
    sim_cluster_make(&cluster, "a");
    return 0;
}

static int tear_down(void **state)
{
    sim_cluster_clear(&cluster);
    return 0;
}

static void add(struct sim_fault fault)
{
    fault.verb = xstrdup(fault.verb);
    fault.resource = xstrdup(fault.resource);
    fault.namespace_ = xstrdup(fault.namespace_);
    fault.path = xstrdup(fault.path);
    fault.wrong.reason = xstrdup(fault.wrong.reason ? fault.wrong.reason : "");
    fault.wrong.message = xstrdup("no");
    fault.wrong.text = xstrdup("");
    if (!fault.wrong.code) fault.wrong.code = 503;
    sim_faults_add(cluster.api.faults, &fault);
}

static void expect(const char *request, int code)
{
    struct sim_reply reply;
    sim_cluster_call(&cluster, request, "", NULL, &reply);
    assert_int_equal(reply.code, code);
    sim_reply_clear(&reply);
}

static void test_a_rule_without_anything_meets_the_next_request(void **state)
{
    add((struct sim_fault){.times = 1});
    expect("GET /version", 503);
    expect("GET /version", 200);
}

static void test_all_conditions_must_match(void **state)
{
    add((struct sim_fault){.verb = (char[]){"list"},
                           .resource = (char[]){"configmaps"},
                           .namespace_ = (char[]){"default"},
                           .path = (char[]){"/api/v1/"}});
    expect(LIST, 503);
    expect(LIST "/a", 200);
    expect(LIST "?watch=1", 200);
    expect("GET /api/v1/configmaps", 200);
    expect("GET /api/v1/namespaces/default/secrets", 200);
    expect("DELETE /api/v1/namespaces/default/configmaps", 200);
    expect("GET /api/v1", 200);
    sim_faults_clear(cluster.api.faults);
    expect(LIST, 200);
}

static void test_rules_count_what_they_meet(void **state)
{
    add((struct sim_fault){.resource = (char[]){"configmaps"}, .skip = 1, .times = 2});
    expect(LIST, 200);
    expect("GET /version", 200);
    expect(LIST, 503);
    expect(LIST, 503);
    expect(LIST, 200);
    assert_int_equal(atomic_load(&cluster.api.stats.faults), 2);
}

static void test_one_rule_serves_a_request_and_the_next_has_the_next(void **state)
{
    add((struct sim_fault){.times = 1, .wrong.code = 429});
    add((struct sim_fault){.times = 1, .wrong.code = 500});
    add((struct sim_fault){.times = 2, .wrong.code = 504});
    expect(LIST, 429);
    expect(LIST, 500);
    expect(LIST, 504);
    expect(LIST, 504);
    expect(LIST, 200);
    assert_int_equal(atomic_load(&cluster.api.stats.faults), 4);
}

static void test_what_goes_on_leaves_the_request_to_the_next_rule(void **state)
{
    add((struct sim_fault){.times = 1, .wrong = {.kind = SIM_WRONG_DELAY, .for_ms = 1}});
    add((struct sim_fault){.times = 1, .wrong.code = 429});
    expect(LIST, 429);
    expect(LIST, 200);
}

static void test_faults_of_streams_wait_for_one(void **state)
{
    add((struct sim_fault){.times = 1, .wrong = {.kind = SIM_WRONG_CUT}});
    add((struct sim_fault){.times = 1, .wrong = {.kind = SIM_WRONG_NO_END}});
    expect("GET /version", 200);
    expect(LIST "/a", 200);
    expect("DELETE /api/v1/namespaces/default/configmaps/a", 200);
    assert_int_equal(atomic_load(&cluster.api.stats.faults), 0);
    expect(LIST, 200); /* its stream is cut */
    assert_int_equal(atomic_load(&cluster.api.stats.faults), 1);
    expect(LIST "?watch=1", 200);
    assert_int_equal(atomic_load(&cluster.api.stats.faults), 2);
}

static void test_no_response_at_all(void **state)
{
    add((struct sim_fault){.times = 1, .wrong.kind = SIM_WRONG_CLOSE});
    add((struct sim_fault){.times = 1, .skip = 1, .wrong.kind = SIM_WRONG_RESET});
    expect(LIST, SIM_STREAM_BROKEN);
    expect(LIST, SIM_STREAM_RESET);
    expect(LIST, 200);
}

static void test_faults_of_streams_leave_the_response_to_the_stream(void **state)
{
    add((struct sim_fault){.times = 1, .wrong = {.kind = SIM_WRONG_RESET, .in_stream = true, .after = 1}});
    struct sim_reply reply;
    ssize_t end;
    sim_cluster_call(&cluster, LIST, "", NULL, &reply);
    assert_int_equal(reply.code, 200);
    char *text = sim_cluster_read(reply.stream, 4096, SIZE_MAX, &end);
    assert_int_equal(end, SIM_STREAM_RESET);
    assert_non_null(strstr(text, "\"name\":\"a\""));
    free(text);
    sim_reply_clear(&reply);
}

/* Whatever there is elsewhere: an object of another namespace, or of none, would be illegal there. */
static void test_what_a_stream_invents_is_of_its_namespace(void **state)
{
    add((struct sim_fault){.times = 1, .wrong = {.kind = SIM_WRONG_UNKNOWN_TYPE, .in_stream = true}});
    struct sim_reply reply;
    ssize_t end;
    sim_cluster_call(&cluster, "GET /api/v1/namespaces/empty/configmaps?watch=1", "", NULL, &reply);
    assert_int_equal(reply.code, 200);
    char *text = sim_cluster_read(reply.stream, 4096, 1, &end);
    assert_non_null(strstr(text, "{\"type\":\"RENAMED\",\"object\":{\"kind\":\"ConfigMap\""));
    assert_non_null(strstr(text, "\"name\":\"half\",\"namespace\":\"empty\""));
    free(text);
    sim_reply_clear(&reply);
}

#define REVIEWS "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

static bool review(const char *attributes)
{
    char *body = xasprintf("{\"spec\":{\"resourceAttributes\":%s}}", attributes);
    json_t *answer = sim_cluster_json(&cluster, REVIEWS, body, 201);
    const json_t *allowed = json_object_get(json_object_get(answer, "status"), "allowed");
    assert_true(json_is_boolean(allowed));
    bool is_true = json_is_true(allowed);
    json_decref(answer);
    free(body);
    return is_true;
}

static void test_reviews_report_what_rules_would_refuse(void **state)
{
    add((struct sim_fault){.verb = (char[]){"list"},
                           .resource = (char[]){"configmaps"},
                           .namespace_ = (char[]){"default"},
                           .wrong.code = 403});
    add((struct sim_fault){.verb = (char[]){"patch"}, .wrong.code = 403, .times = 1});
    add((struct sim_fault){.verb = (char[]){"get"}, .wrong.code = 503});
    add((struct sim_fault){.verb = (char[]){"watch"}, .wrong.code = 403, .skip = 1});
    add((struct sim_fault){.verb = (char[]){"delete"}, .path = (char[]){"/x"}, .wrong.code = 403});
    assert_false(review("{\"verb\":\"list\",\"resource\":\"configmaps\",\"namespace\":\"default\"}"));
    assert_true(review("{\"verb\":\"list\",\"resource\":\"configmaps\"}"));
    assert_true(review("{\"verb\":\"list\",\"resource\":\"pods\",\"namespace\":\"default\"}"));
    for (int i = 0; i < 2; i++)
        assert_false(review("{\"verb\":\"patch\",\"resource\":\"*\",\"group\":\"*\"}"));
    assert_true(review("{\"verb\":\"get\",\"resource\":\"pods\"}"));
    assert_true(review("{\"verb\":\"watch\",\"resource\":\"pods\"}"));
    assert_true(review("{\"verb\":\"delete\",\"resource\":\"pods\"}"));
    sim_faults_clear(cluster.api.faults);
    expect("GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405);
    json_decref(sim_cluster_json(&cluster, REVIEWS, "{}", 422));
    json_decref(sim_cluster_json(&cluster, REVIEWS, "no", 400));
}

#define SUBJECTS "POST /apis/authorization.k8s.io/v1/subjectaccessreviews"
#define TOKENS   "POST /apis/authentication.k8s.io/v1/tokenreviews"

static bool may_get(const char *path)
{
    char *body = xasprintf("{\"spec\":{\"user\":\"a\",\"nonResourceAttributes\":{\"path\":\"%s\",\"verb\":"
                           "\"get\"}}}",
                           path);
    json_t *answer = sim_cluster_json(&cluster, SUBJECTS, body, 201);
    bool is_true = json_is_true(json_object_get(json_object_get(answer, "status"), "allowed"));
    json_decref(answer);
    free(body);
    return is_true;
}

static void test_reviews_of_subjects_are_of_paths_too(void **state)
{
    add((struct sim_fault){.verb = (char[]){"get"}, .path = (char[]){"/metrics"}, .wrong.code = 403});
    add((struct sim_fault){.verb = (char[]){"get"}, .wrong.code = 403});
    assert_false(may_get("/metrics"));
    assert_true(may_get("/healthz"));
    json_decref(sim_cluster_json(&cluster, SUBJECTS, "{\"spec\":{\"nonResourceAttributes\":{}}}", 422));
}

static void test_reviews_of_tokens_know_users_by_name(void **state)
{
    json_t *answer = sim_cluster_json(&cluster, TOKENS, "{\"spec\":{\"token\":\"user:a\"}}", 201);
    const json_t *status = json_object_get(answer, "status");
    assert_true(json_is_true(json_object_get(status, "authenticated")));
    assert_string_equal(json_string_value(json_object_get(json_object_get(status, "user"), "username")), "a");
    json_decref(answer);
    answer = sim_cluster_json(&cluster, TOKENS, "{\"spec\":{\"token\":\"other\"}}", 201);
    assert_false(json_is_true(json_object_get(json_object_get(answer, "status"), "authenticated")));
    json_decref(answer);
    json_decref(sim_cluster_json(&cluster, TOKENS, "{\"spec\":{}}", 400));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_rule_without_anything_meets_the_next_request, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_all_conditions_must_match, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rules_count_what_they_meet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_rule_serves_a_request_and_the_next_has_the_next, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_goes_on_leaves_the_request_to_the_next_rule, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_faults_of_streams_wait_for_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_response_at_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_a_stream_invents_is_of_its_namespace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reviews_report_what_rules_would_refuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reviews_of_subjects_are_of_paths_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reviews_of_tokens_know_users_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_faults_of_streams_leave_the_response_to_the_stream, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
