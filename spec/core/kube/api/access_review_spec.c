/* core/kube/api/access_review.c: what is asked, and what of the answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/kube/support/kube_bench.h"
#include "kube/api/access_review.h"

#define YES "{\"status\":{\"allowed\":true}}"
#define NO  "{\"status\":{\"allowed\":false,\"denied\":true}}"

enum { MANY = 40 };

static const char *otherwise; /* the answer to what is not about secrets */

static void answer(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    bool about_secrets = strstr(buf_text(&bench->body), "\"resource\":\"secrets\"");
    assert_string_equal(path, "/base/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    buf_puts(&bench->log, buf_text(&bench->body));
    buf_putc(&bench->log, '\n');
    tiny_answer(conn, 201, "Content-Type: application/json\r\n", about_secrets ? NO : otherwise);
}

static void on_done(void *ctx, const struct err *err)
{
    bench_note_end(ctx, err);
}

static struct bench *prepare(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer;
    otherwise = YES;
    return bench;
}

static void ask(struct bench *bench, struct access_check *questions, size_t count)
{
    bench->log.len = 0;
    access_review_start(bench->client, questions, count, on_done, bench);
    bench_until_done(bench);
}

static void test_each_question_is_a_review_of_its_own(void **state)
{
    struct bench *bench = prepare(state);
    struct access_check one = {
        .ns = "shop", .group = "apps", .resource = "deployments/status", .name = "", .verb = "patch"};
    ask(bench, &one, 1);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_true(one.allowed);
    assert_string_equal(
        buf_text(&bench->log),
        "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\","
        "\"spec\":{\"resourceAttributes\":{\"verb\":\"patch\",\"group\":\"apps\","
        "\"resource\":\"deployments\",\"subresource\":\"status\",\"namespace\":\"shop\"}}}\n");
    struct access_check two[] = {
        {.ns = "", .group = "", .resource = "secrets", .name = "a", .verb = "get", .allowed = true},
        {.ns = "", .group = "*", .resource = "*", .name = "", .verb = "get"},
    };
    ask(bench, two, 2);
    assert_false(two[0].allowed);
    assert_true(two[1].allowed);
    assert_non_null(strstr(buf_text(&bench->log), "\"resource\":\"secrets\",\"name\":\"a\"}"));
    assert_non_null(strstr(buf_text(&bench->log), "\"group\":\"*\",\"resource\":\"*\"}"));
}

static void test_many_requests_get_their_responses(void **state)
{
    struct bench *bench = prepare(state);
    struct access_check many[MANY];
    for (int i = 0; i < MANY; i++)
        many[i] = (struct access_check){
            .ns = "", .group = "", .resource = i % 3 ? "pods" : "secrets", .name = "", .verb = "list"};
    ask(bench, many, MANY);
    assert_int_equal(bench->err.code, ERR_NONE);
    for (int i = 0; i < MANY; i++) assert_int_equal(many[i].allowed, i % 3 != 0);
    ask(bench, many, 0);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(bench->log.len, 0);
}

static void assert_error(struct bench *bench, const char *body, const char *text)
{
    struct access_check questions[3];
    otherwise = body;
    for (int i = 0; i < 3; i++)
        questions[i] = (struct access_check){
            .ns = "", .group = "", .resource = "pods", .name = "", .verb = "list", .allowed = false};
    ask(bench, questions, 3);
    if (!strstr(bench->err.text, text)) fail_msg("\"%s\" has no \"%s\"", bench->err.text, text);
    for (int i = 0; i < 3; i++) assert_false(questions[i].allowed);
}

static void test_a_malformed_response_is_an_error(void **state)
{
    struct bench *bench = prepare(state);
    assert_error(bench, "{\"kind\":\"SelfSubjectAccessReview\"}",
                 "selfsubjectaccessreviews: the response has no status");
    assert_error(bench, "{\"status\":\"Success\"}", "the response has no status");
    assert_error(bench, "[]", "the response has no status");
    assert_error(bench, "{\"status\":", "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews: ");
    /* Who says nothing of it does not allow it. */
    struct access_check one = {.ns = "", .group = "", .resource = "pods", .name = "", .verb = "list"};
    otherwise = "{\"status\":{}}";
    ask(bench, &one, 1);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_false(one.allowed);
}

static void test_it_can_be_cancelled_at_any_time(void **state)
{
    struct bench *bench = prepare(state);
    struct access_check many[MANY];
    for (int i = 0; i < MANY; i++)
        many[i] =
            (struct access_check){.ns = "", .group = "", .resource = "pods", .name = "", .verb = "list"};
    access_review_cancel(access_review_start(bench->client, many, MANY, on_done, bench));
    access_review_cancel(access_review_start(bench->client, many, 0, on_done, bench));
    struct access_review *review = access_review_start(bench->client, many, MANY, on_done, bench);
    while (!bench->log.len) loop_once(bench->loop, true);
    access_review_cancel(review);
    bench_settle(bench);
    assert_int_equal(bench->dones, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_each_question_is_a_review_of_its_own),
        T(test_many_requests_get_their_responses),
        T(test_a_malformed_response_is_an_error),
        T(test_it_can_be_cancelled_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
