/* core/kube/api/token_review.c: what is sent of a token, and what becomes of the responses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/kube/support/kube_bench.h"
#include "kube/api/token_review.h"

#define JSON "Content-Type: application/json\r\n"

static const char *about_token, *about_access; /* responses */
static enum token_verdict verdict;

static void answer(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    bool is_token = strstr(path, "/authentication.k8s.io/v1/tokenreviews") != NULL;
    buf_printf(&bench->log, "%s\n", buf_text(&bench->body));
    tiny_answer(conn, 201, JSON, is_token ? about_token : about_access);
}

static void on_done(void *ctx, enum token_verdict found, const struct err *err)
{
    verdict = found;
    bench_note_end(ctx, err);
}

static void review(struct bench *bench, const char *token_response, const char *access_response)
{
    about_token = token_response;
    about_access = access_response;
    bench->log.len = 0;
    token_review_start(bench->client, STR("to\"ken"), "/metrics", 5000, on_done, bench);
    bench_until_done(bench);
}

#define KNOWN(user) "{\"status\":{\"authenticated\":true,\"user\":" user "}}"
#define ALLOWED     "{\"status\":{\"allowed\":true}}"

static void test_all_that_is_known_of_the_user_is_reviewed(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer;
    review(
        bench,
        KNOWN("{\"username\":\"a\\\"b\",\"uid\":\"7\",\"groups\":[\"g\",\"h\"],\"extra\":{\"k\":[\"v\"]}}"),
        ALLOWED);
    assert_int_equal(verdict, TOKEN_ALLOWED);
    assert_string_equal(
        buf_text(&bench->log),
        "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/"
        "v1\",\"spec\":{\"token\":\"to\\\"ken\"}}\n"
        "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/"
        "v1\",\"spec\":{\"user\":\"a\\\"b\","
        "\"uid\":\"7\",\"groups\":[\"g\",\"h\"],\"extra\":{\"k\":[\"v\"]},\"nonResourceAttributes\":"
        "{\"path\":\"/metrics\",\"verb\":\"get\"}}}\n");
}

static void test_what_the_server_does_not_allow_is_refused(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer;
    review(bench, KNOWN("{\"username\":\"a\"}"), "{\"status\":{\"allowed\":false}}");
    assert_int_equal(verdict, TOKEN_FORBIDDEN);
    review(bench, KNOWN("{\"username\":\"a\"}"), "{\"status\":{}}");
    assert_int_equal(verdict, TOKEN_FORBIDDEN);
    review(bench, "{\"status\":{\"error\":\"invalid bearer token\"}}", ALLOWED);
    assert_int_equal(verdict, TOKEN_INVALID);
    review(bench, "{\"status\":{\"authenticated\":true}}", ALLOWED);
    assert_int_equal(verdict, TOKEN_INVALID);
    review(bench, "{\"status\":{\"authenticated\":\"true\",\"user\":{\"username\":\"a\"}}}", ALLOWED);
    assert_int_equal(verdict, TOKEN_INVALID);
}

static void test_a_response_without_a_status_decides_nothing(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer;
    review(bench, "[]", ALLOWED);
    assert_int_equal(verdict, TOKEN_UNDECIDED);
    assert_string_equal(bench->err.text,
                        "POST /apis/authentication.k8s.io/v1/tokenreviews: the response has no "
                        "status");
    review(bench, KNOWN("{\"username\":\"a\"}"), "{");
    assert_int_equal(verdict, TOKEN_UNDECIDED);
    assert_null(strstr(bench->err.text, "to\\\"ken"));
}

static void test_one_that_is_cancelled_calls_nothing(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer;
    int dones = bench->dones;
    token_review_cancel(token_review_start(bench->client, STR("t"), "/metrics", 5000, on_done, bench));
    bench_settle(bench);
    assert_int_equal(bench->dones, dones);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)
    const struct CMUnitTest tests[] = {
        T(test_all_that_is_known_of_the_user_is_reviewed),
        T(test_what_the_server_does_not_allow_is_refused),
        T(test_a_response_without_a_status_decides_nothing),
        T(test_one_that_is_cancelled_calls_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
