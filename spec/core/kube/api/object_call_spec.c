/* core/kube/api/object_call.c: one object over HTTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/kube/support/kube_bench.h"
#include "kube/api/object_call.h"
#include "object/value/value.h"

static const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
static int busy_answers, http_status;
static bool is_json;

static void on_done(void *ctx, const struct object_response *response)
{
    struct bench *bench = ctx;
    if (response->object) root_key(response->object, &bench->log);
    root_unref(response->object);
    buf_str(&bench->log, response->text);
    is_json = response->is_json;
    http_status = response->http_status;
    bench_note_end(bench, response->err);
}

static struct object_call *get(struct bench *bench, const char *name)
{
    return object_call_start(bench->client, &(struct object_request){.place = {&pods, "shop", name}}, on_done,
                             bench);
}

static void run(struct bench *bench, const char *name)
{
    bench->log.len = bench->requests.len = 0;
    get(bench, name);
    bench_until_done(bench);
}

static void send_pod(struct bench *bench, enum object_verb verb, const char *name, bool dry_run)
{
    bench->log.len = bench->requests.len = 0;
    http_status = 0;
    object_call_start(bench->client,
                      &(struct object_request){
                          .verb = verb,
                          .place = {&pods, "shop", name, *name ? "status" : ""},
                          .dry_run = dry_run,
                          .patch_type = "application/merge-patch+json",
                          .body = STR("{\"a\":1}"),
                      },
                      on_done, bench);
    bench_until_done(bench);
}

static void answer(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    if (bench_head_has(bench, "POST /base/api/v1/namespaces/shop/pods HTTP"))
        tiny_answer(conn, 201, "Content-Type: application/json\r\n",
                    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"new\"}}");
    else if (strstr(path, "/text"))
        tiny_answer(conn, 200, "Content-Type: text/plain\r\n", "one\ntwo\n");
    else if (strstr(path, "/none"))
        tiny_answer(conn, 204, "", "");
    else if (strstr(path, "/json"))
        tiny_answer(conn, 200, "Content-Type: application/openapi+json; charset=utf-8\r\n", "{}");
    else if (busy_answers-- > 0)
        tiny_answer(conn, 503, "Retry-After: 0\r\n", "busy");
    else if (strstr(path, "/web"))
        tiny_answer(conn, 200, "Content-Type: application/json\r\n",
                    "{\n \"kind\":\"Pod\",\n \"apiVersion\":\"v1\",\n "
                    "\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"}\n}\n");
    else if (strstr(path, "/gone"))
        tiny_answer(conn, 200, "", "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}");
    else if (strstr(path, "/odd"))
        tiny_answer(conn, 200, "Content-Type: application/json\r\n", "{\"kind\":\"Pod\"}");
    else
        tiny_answer(conn, 404, "Content-Type: application/json\r\n",
                    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"pods "
                    "\\\"x\\\" not found\",\"reason\":\"NotFound\",\"code\":404}");
}

static struct bench *prepare(void **state)
{
    struct bench *bench = *state;
    bench_new_client(bench, false);
    bench->answer = answer;
    busy_answers = 0;
    return bench;
}

static void test_an_object_is_read_and_packed(void **state)
{
    struct bench *bench = prepare(state);
    run(bench, "web");
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "shop/web");
    assert_string_equal(buf_text(&bench->requests), "/base/api/v1/namespaces/shop/pods/web\n");
}

static void test_an_error_is_the_servers(void **state)
{
    struct bench *bench = prepare(state);
    run(bench, "x");
    assert_int_equal(bench->err.http_status, 404);
    assert_string_equal(bench->err.reason, "NotFound");
    assert_string_equal(bench->err.text, "pods \"x\" not found");
    run(bench, "odd");
    assert_memory_equal(bench->err.text, "/api/v1/namespaces/shop/pods/odd: ", 34);
}

/* H-12 */
static void test_a_name_that_may_not_stand_in_a_path_is_never_sent(void **state)
{
    struct bench *bench = prepare(state);
    run(bench, "..");
    assert_int_equal(bench->err.code, ERR_INVALID);
    assert_int_equal(bench->requests.len, 0);
    static const char *const namespaces[] = {"..", ".", "a/b", "a%2fb"};
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        object_call_start(bench->client,
                          &(struct object_request){
                              .verb = OBJECT_CREATE,
                              .place = {&pods, namespaces[i]},
                              .body = STR("{}"),
                          },
                          on_done, bench);
        bench_until_done(bench);
        assert_int_equal(bench->err.code, ERR_INVALID);
        assert_memory_equal(bench->err.text, "namespace: ", 11);
        assert_int_equal(bench->requests.len, 0);
    }
}

static void test_a_write_sends_its_body_to_the_object_or_the_collection(void **state)
{
    struct bench *bench = prepare(state);
    send_pod(bench, OBJECT_PATCH, "web", true);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_true(bench_head_has(bench, "PATCH /base/api/v1/namespaces/shop/pods/web/status?dryRun=All HTTP"));
    assert_int_equal(http_status, 200);
    assert_true(bench_head_has(bench, "\r\nContent-Type: application/merge-patch+json\r\n"));
    assert_string_equal(buf_text(&bench->body), "{\"a\":1}");
    send_pod(bench, OBJECT_CREATE, "", false);
    assert_true(bench_head_has(bench, "POST /base/api/v1/namespaces/shop/pods HTTP"));
    assert_int_equal(http_status, 201);
    send_pod(bench, OBJECT_PATCH, "x", false);
    assert_int_equal(http_status, 404);
}

static void test_a_status_of_success_is_no_object(void **state)
{
    struct bench *bench = prepare(state);
    send_pod(bench, OBJECT_DELETE, "gone", false);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "");
}

/* Who reads has an object or an error, never neither. */
static void test_a_status_of_success_is_no_response_to_a_read(void **state)
{
    struct bench *bench = prepare(state);
    run(bench, "gone");
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_string_equal(bench->err.text, "/api/v1/namespaces/shop/pods/gone: the server returned no object");
    assert_string_equal(buf_text(&bench->log), "");
}

/* H-3 */
static void test_a_busy_server_is_tried_again_ten_times(void **state)
{
    struct bench *bench = prepare(state);
    busy_answers = 10;
    run(bench, "web");
    assert_int_equal(bench->err.code, ERR_NONE);
    busy_answers = 11;
    run(bench, "web");
    assert_int_equal(bench->err.http_status, 503);
}

static void read_text(struct bench *bench, const char *path, size_t limit)
{
    bench->log.len = bench->requests.len = 0;
    object_call_start(bench->client,
                      &(struct object_request){.verb = OBJECT_TEXT, .path = path, .limit = limit}, on_done,
                      bench);
    bench_until_done(bench);
}

static void test_a_text_is_what_the_path_has_within_its_limit(void **state)
{
    struct bench *bench = prepare(state);
    read_text(bench, "/text?tailLines=2", 8);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->log), "one\ntwo\n");
    assert_false(is_json);
    assert_string_equal(buf_text(&bench->requests), "/base/text?tailLines=2\n");
    read_text(bench, "/text", 7);
    assert_int_equal(bench->err.code, ERR_LIMIT);
    assert_string_equal(bench->err.text, "the response exceeds 7 bytes");
    read_text(bench, "/none", 8);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_int_equal(bench->log.len, 0);
    read_text(bench, "/json", 8);
    assert_true(is_json);
    read_text(bench, "/x", 8);
    assert_string_equal(bench->err.reason, "NotFound");
}

static void test_it_can_be_cancelled_at_any_time(void **state)
{
    struct bench *bench = prepare(state);
    bench->answer = NULL;
    object_call_cancel(get(bench, "web"));
    struct object_call *call = get(bench, "web");
    while (!bench->requests.len) loop_once(bench->loop, true);
    object_call_cancel(call);
    bench_settle(bench);
    assert_int_equal(bench->dones, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, kube_bench_setup, kube_bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_an_object_is_read_and_packed),
        T(test_an_error_is_the_servers),
        T(test_a_name_that_may_not_stand_in_a_path_is_never_sent),
        T(test_a_write_sends_its_body_to_the_object_or_the_collection),
        T(test_a_status_of_success_is_no_object),
        T(test_a_status_of_success_is_no_response_to_a_read),
        T(test_a_busy_server_is_tried_again_ten_times),
        T(test_a_text_is_what_the_path_has_within_its_limit),
        T(test_it_can_be_cancelled_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
