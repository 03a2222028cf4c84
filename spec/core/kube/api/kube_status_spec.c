/* core/kube/api/kube_status.c: error answers as errors, and what kind of error they are (R-11, H-8, H-9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/api/client.h"
#include "kube/api/kube_call.h"

enum { CAUSE_TEXTS = 3 };

static struct err answer(const char *method, int code, int64_t retry_after_ms, const char *body)
{
    struct err err;
    assert_false(kube_status_error(&err, method, code, retry_after_ms, body, strlen(body)));
    assert_int_equal(err.code, ERR_HTTP);
    return err;
}

#define STATUS(more) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\"" more "}"

static void expect_cause(const struct err *err, size_t *at, const char *reason, const char *field,
                         const char *message)
{
    struct err_cause cause;
    assert_true(err_next_cause(err, at, &cause));
    assert_string_equal(cause.reason.p, reason);
    assert_string_equal(cause.field.p, field);
    assert_string_equal(cause.message.p, message);
}

static void test_a_status_has_causes(void **state)
{
    static const char budget[] = "The disruption budget web needs 2 healthy pods and has 2 currently";
    struct err_cause cause;
    size_t at = 0;
    struct err err = answer(
        "POST", 429, -1,
        STATUS(
            ",\"message\":\"Cannot evict pod as it would violate the pod's disruption budget.\",\"reason\":"
            "\"TooManyRequests\",\"details\":{\"causes\":[{\"reason\":\"DisruptionBudget\",\"message\":\"The "
            "disruption budget web needs 2 healthy pods and has 2 currently\"}]},\"code\":429"));
    expect_cause(&err, &at, "DisruptionBudget", "", budget);
    assert_false(err_next_cause(&err, &at, &cause));

    err = answer(
        "POST", 422, -1,
        STATUS(",\"reason\":\"Invalid\",\"details\":{\"causes\":[{\"reason\":\"a\\u0000\\n\",\"field\":"
               "\"spec.x\"},7,{\"message\":\"\\u202eb\"}]}"));
    at = 0;
    expect_cause(&err, &at, "a  ", "spec.x", "");
    expect_cause(&err, &at, "", "", "");
    expect_cause(&err, &at, "", "", "?b");
    assert_false(err_next_cause(&err, &at, &cause));
    at = 0;
    assert_false(err_next_cause(&(struct err){0}, &at, &cause));
    err = answer("POST", 422, -1, STATUS(",\"reason\":\"Invalid\",\"details\":{\"causes\":{\"a\":1}}"));
    assert_false(err_next_cause(&err, &at, &cause));
}

static void test_causes_are_bounded(void **state)
{
    struct err err;
    struct err_cause cause = {STR("FieldValueInvalid"), STR("spec.x"), STR("is longer than a few words")};
    size_t at = 0, count = 0, taken = 0;
    err_set(&err, ERR_HTTP, "x");
    while (err_add_cause(&err, &cause)) taken++;
    assert_in_range(err.causes_len, ERR_CAUSES_MAX - 20, ERR_CAUSES_MAX);
    while (err_next_cause(&err, &at, &cause)) count++;
    assert_int_equal(count, taken);
    assert_true(taken > 10);

    static char text[2 * ERR_CAUSES_MAX];
    for (size_t i = 0; i < CAUSE_TEXTS; i++) {
        struct str all[CAUSE_TEXTS] = {STR("r"), STR("f"), STR("m")};
        memset(text, 'x', sizeof text);
        all[i] = (struct str){text, sizeof text};
        err_set(&err, ERR_HTTP, "x");
        assert_true(err_add_cause(&err, &(struct err_cause){all[0], all[1], all[2]}));
        at = 0;
        assert_true(err_next_cause(&err, &at, &cause));
        struct str cut = i == 0 ? cause.reason : i == 1 ? cause.field : cause.message;
        assert_string_equal(cut.p + cut.n - 4, "x...");
        assert_false(err_add_cause(&err, &cause));
    }
}

static void test_a_status_has_the_best_message(void **state)
{
    struct err err =
        answer("GET", 404, -1,
               STATUS(",\"message\":\"pods \\\"x\\\" not found\",\"reason\":\"NotFound\",\"code\":404"));
    assert_int_equal(err.http_status, 404);
    assert_string_equal(err.reason, "NotFound");
    assert_string_equal(err.text, "pods \"x\" not found");
    err = answer("GET", 429, -1,
                 STATUS(",\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":7}"));
    assert_int_equal(err.retry_after_ms, 7000);
    assert_false(err.has_retry_after); /* H-3: that is the header's to do */
    assert_string_equal(err.text, "TooManyRequests");
    err =
        answer("GET", 429, 1000, STATUS(",\"details\":{\"retryAfterSeconds\":7}")); /* the header is newer */
    assert_int_equal(err.retry_after_ms, 1000);
    assert_true(err.has_retry_after);
    assert_string_equal(err.text,
                        "the server has received too many requests and has asked us to try again later");
}

/* H-8, H-3: proxies answer for servers, and repeats go by the response itself, as in client-go. */
static void test_the_code_is_the_status_s_where_there_is_one(void **state)
{
    int64_t wait_ms;
    struct err err = answer("GET", 503, 1000, STATUS(",\"reason\":\"NotFound\",\"code\":404"));
    assert_int_equal(err.http_status, 404);
    assert_true(kube_should_retry(&err, 0, &wait_ms));
    err = answer("GET", 404, 1000, STATUS(",\"reason\":\"ServiceUnavailable\",\"code\":503"));
    assert_int_equal(err.http_status, 503);
    assert_false(kube_should_retry(&err, 0, &wait_ms));
    err = answer("GET", 403, -1, STATUS(",\"reason\":\"Forbidden\",\"code\":0"));
    assert_int_equal(err.http_status, 403);
}

/* H-8 */
static void test_without_a_status_the_code_decides(void **state)
{
    static const struct {
        const char *method;
        int code;
        const char *body, *reason, *text;
    } cases[] = {
        {"GET", 400, "x", "BadRequest", "the server rejected our request for an unknown reason"},
        {"GET", 401, "", "Unauthorized", "the server has asked for the client to provide credentials"},
        {"GET", 403, " no entry\n", "Forbidden", "no entry"},
        {"GET", 403, "", "Forbidden", "the server refused the request"},
        {"GET", 404, "404 page not found", "NotFound", "the server could not find the requested resource"},
        {"GET", 405, "", "MethodNotAllowed",
         "the server does not allow this method on the requested resource"},
        {"GET", 406, "only yaml", "NotAcceptable", "only yaml"},
        {"PUT", 409, "", "Conflict", "the server reported a conflict"},
        {"POST", 409, "", "AlreadyExists", "the server reported a conflict"},
        {"GET", 410, "", "",
         "the server responded with the status code 410 but did not return more information"},
        {"PATCH", 415, "no", "UnsupportedMediaType", "no"},
        {"GET", 418, "", "",
         "the server responded with the status code 418 but did not return more information"},
        {"PUT", 422, "", "Invalid", "the server rejected our request due to an error in our request"},
        {"GET", 500, "boom", "InternalError",
         "an error on the server (\"boom\") has prevented the request from succeeding"},
        {"GET", 502, "<html>", "InternalError",
         "an error on the server (\"<html>\") has prevented the request from succeeding"},
        {"GET", 503, "", "ServiceUnavailable", "the server is currently unable to handle the request"},
        {"GET", 504, "Too large resource version", "Timeout",
         "the server was unable to return a response in the time allotted, but may still be processing the "
         "request"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = answer(cases[i].method, cases[i].code, -1, cases[i].body);
        assert_int_equal(err.http_status, cases[i].code);
        assert_string_equal(err.reason, cases[i].reason);
        assert_string_equal(err.text, cases[i].text);
        assert_false(err.too_large_version); /* a bare 504 is an ordinary error */
    }
}

static void test_a_json_response_that_is_no_status_is_only_a_text(void **state)
{
    struct err err = answer("GET", 500, -1, "{\"kind\":\"Pod\",\"message\":\"x\"}");
    assert_string_equal(err.reason, "InternalError");
    err = answer("GET", 500, -1, "[1]");
    assert_string_equal(err.reason, "InternalError");
}

static void test_a_version_that_is_too_large_has_many_forms(void **state)
{
    static const struct {
        const char *body;
        bool too_large;
    } cases[] = {
        {STATUS(",\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\","
                "\"message\":\"x\"}]}"),
         true},
        {STATUS(",\"reason\":\"Other\",\"details\":{\"causes\":[{\"reason\":\"a\"},{\"reason\":"
                "\"ResourceVersionTooLarge\"}]}"),
         true},
        {STATUS(",\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"message\":\"Too large resource "
                "version\"}]}"),
         true},
        {STATUS(
             ",\"reason\":\"Other\",\"details\":{\"causes\":[{\"message\":\"Too large resource version\"}]}"),
         false},
        {STATUS(",\"reason\":\"Timeout\",\"message\":\"Too large resource version: 9, current: "
                "5\",\"details\":{}"),
         true},
        {STATUS(",\"reason\":\"Timeout\",\"message\":\"Too large resource version: 9, current: 5\""), false},
        {STATUS(",\"reason\":\"InternalError\",\"message\":\"Too large resource version\",\"details\":{}"),
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(answer("GET", 504, 1000, cases[i].body).too_large_version, cases[i].too_large);
}

/* H-9 */
static void test_kinds_of_errors_go_by_reason_first(void **state)
{
    struct err err = answer("GET", 410, -1, "");
    assert_true(kube_err_is_expired(&err));
    err = answer("GET", 200, -1, STATUS(",\"reason\":\"Expired\",\"code\":410"));
    assert_true(kube_err_is_expired(&err));
    err = answer("GET", 410, -1, STATUS(",\"reason\":\"Gone\""));
    assert_true(kube_err_is_expired(&err));
    err = answer("GET", 410, -1, STATUS(",\"reason\":\"Brandnew\""));
    assert_true(kube_err_is_expired(&err));
    err = answer("GET", 410, -1, STATUS(",\"reason\":\"NotFound\""));
    assert_false(kube_err_is_expired(&err));
    err = answer("GET", 429, -1, STATUS(",\"reason\":\"NotFound\""));
    assert_true(kube_err_is_too_many_requests(&err));
    err = answer("GET", 503, -1, STATUS(",\"reason\":\"TooManyRequests\""));
    assert_true(kube_err_is_too_many_requests(&err));
    err_set(&err, ERR_CONNECT, "x");
    assert_false(kube_err_is_connection_refused(&err));
    assert_false(kube_err_is_expired(&err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_status_has_the_best_message),
        cmocka_unit_test(test_a_status_has_causes),
        cmocka_unit_test(test_causes_are_bounded),
        cmocka_unit_test(test_the_code_is_the_status_s_where_there_is_one),
        cmocka_unit_test(test_without_a_status_the_code_decides),
        cmocka_unit_test(test_a_json_response_that_is_no_status_is_only_a_text),
        cmocka_unit_test(test_a_version_that_is_too_large_has_many_forms),
        cmocka_unit_test(test_kinds_of_errors_go_by_reason_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
