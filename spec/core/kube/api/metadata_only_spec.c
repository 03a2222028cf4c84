/* core/kube/api/list_watch.c: metadata alone (F-9), and what a projection leaves of objects on their way in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/kube/support/kube_bench.h"
#include "object/pack/projection.h"
#include "object/value/json.h"
#include "object/value/value.h"

static void note(struct bench *bench, struct root *object)
{
    json_write(&bench->log, root_value(object));
    buf_putc(&bench->log, '\n');
    root_unref(object);
}

static void on_item(void *ctx, struct root *object)
{
    note(ctx, object);
}

static void on_event(void *ctx, enum lw_event_type type, struct root *object, int64_t received_us)
{
    note(ctx, object);
}

static void on_list_end(void *ctx, const struct lw_list_meta *meta) {}

static void on_bookmark(void *ctx, const struct lw_bookmark *bookmark) {}

static void on_refused(void *ctx, const struct lw_refusal *refusal)
{
    buf_printf(&((struct bench *)ctx)->log, "refused %s\n", refusal->err->text);
}

static void on_done(void *ctx, const struct err *err)
{
    bench_note_end(ctx, err);
}

static const struct lw_sink sink = {
    .item = on_item,
    .list_end = on_list_end,
    .event = on_event,
    .bookmark = on_bookmark,
    .refused = on_refused,
    .done = on_done,
};

static void open_source(struct bench *bench, const char *keep, const char *drop, bool metadata_only)
{
    const struct resource pods = {(char *)"", (char *)"v1", (char *)"pods", (char *)"Pod", true};
    struct projection *projection = projection_new((struct projection_paths){&keep, keep != NULL},
                                                   (struct projection_paths){&drop, drop != NULL}, NULL);
    bench_new_client(bench, false);
    bench->source = list_watch_new(bench->client, &pods,
                                   &(struct lw_scope){.namespace_ = "",
                                                      .label_selector = "",
                                                      .field_selector = "",
                                                      .projection = projection,
                                                      .metadata_only = metadata_only});
    projection_unref(projection);
}

static const char *run(struct bench *bench, enum lw_verb verb)
{
    bench->log.len = bench->requests.len = 0;
    bench->call = lw_start(bench->source, &(struct lw_options){.verb = verb}, &sink, bench);
    bench_until_done(bench);
    return buf_text(&bench->log);
}

#define META                                                                                                 \
    "\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\",\"resourceVersion\":\"3\",\"labels\":{\"x\":\"y\"}" \
    "}"
#define PARTIAL "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\"," META "}"
#define LIST(kind, items) \
    "{\"kind\":\"" kind   \
    "List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" items "]}"
#define JSON_HEAD  "Content-Type: application/json\r\n"
#define OBJECT     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," META "}\n"
#define WHOLE_ITEM "{" META ",\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Running\"}}"

static void answer_partial_list(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, JSON_HEAD, LIST("PartialObjectMetadata", PARTIAL));
}

static void test_f9_a_list_requests_metadata_and_keeps_the_kind(void **state)
{
    struct bench *bench = *state;
    open_source(bench, "metadata", NULL, true);
    bench->answer = answer_partial_list;
    assert_string_equal(run(bench, LW_LIST), OBJECT);
    assert_true(bench_head_has(bench,
                               "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
                               "application/json"));
}

static void answer_partial_event(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, JSON_HEAD, "{\"type\":\"ADDED\",\"object\":" PARTIAL "}\n");
}

static void test_f9_a_watch_requests_metadata_and_keeps_the_kind(void **state)
{
    struct bench *bench = *state;
    open_source(bench, "metadata", NULL, true);
    bench->answer = answer_partial_event;
    assert_string_equal(run(bench, LW_WATCH), OBJECT);
    assert_true(bench_head_has(
        bench, "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"));
}

/* An old server takes the plain form that we accept too. */
static void answer_whole_list(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, JSON_HEAD, LIST("Pod", WHOLE_ITEM));
}

static void test_f9_of_complete_objects_no_more_than_metadata_is_kept(void **state)
{
    struct bench *bench = *state;
    open_source(bench, "metadata", NULL, true);
    bench->answer = answer_whole_list;
    assert_string_equal(run(bench, LW_LIST), OBJECT);
}

static void refuse_partial(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    if (bench_head_has(bench, "PartialObjectMetadata"))
        tiny_answer(conn, 406, JSON_HEAD, "{\"kind\":\"Status\",\"code\":406,\"reason\":\"NotAcceptable\"}");
    else
        tiny_answer(conn, 200, JSON_HEAD, LIST("Pod", WHOLE_ITEM));
}

static void test_f9_a_server_that_refuses_gets_requests_for_complete_objects_from_then_on(void **state)
{
    struct bench *bench = *state;
    open_source(bench, "metadata", NULL, true);
    bench->answer = refuse_partial;
    assert_string_equal(run(bench, LW_LIST), OBJECT);
    assert_int_equal(bench->err.code, ERR_NONE);
    assert_string_equal(buf_text(&bench->requests), "/base/api/v1/pods\n/base/api/v1/pods\n");
    assert_string_equal(run(bench, LW_LIST), OBJECT);
    assert_string_equal(buf_text(&bench->requests), "/base/api/v1/pods\n");
}

static void refuse_everything(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 406, JSON_HEAD, "{\"kind\":\"Status\",\"code\":406,\"reason\":\"NotAcceptable\"}");
}

static void test_f9_a_server_that_refuses_everything_is_an_error(void **state)
{
    struct bench *bench = *state;
    open_source(bench, "metadata", NULL, true);
    bench->answer = refuse_everything;
    run(bench, LW_LIST);
    assert_int_equal(bench->err.http_status, 406);
}

static void answer_no_metadata(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(
        conn, 200, JSON_HEAD,
        LIST("PartialObjectMetadata", PARTIAL ",{\"kind\":\"PartialObjectMetadata\",\"metadata\":{}},{}"));
}

/* F-9: rejects what does not look like metadata, and that alone. */
static void test_f9_a_response_that_is_not_metadata_is_refused_alone(void **state)
{
    struct bench *bench = *state;
    open_source(bench, "metadata", NULL, true);
    bench->answer = answer_no_metadata;
    assert_string_equal(run(bench, LW_LIST), OBJECT "refused Pod: missing metadata.name\n"
                                                    "refused Pod: missing metadata\n");
}

static void answer_whole_event(struct bench *bench, struct tiny_conn *conn, const char *path)
{
    tiny_answer(conn, 200, JSON_HEAD,
                "{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," META
                ",\"spec\":{\"a\":1}}}\n");
}

static void test_a_projection_acts_on_lists_and_watches(void **state)
{
    struct bench *bench = *state;
    open_source(bench, NULL, "spec", false);
    bench->answer = answer_whole_list;
    assert_string_equal(run(bench, LW_LIST), "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," META
                                             ",\"status\":{\"phase\":\"Running\"}}\n");
    bench->answer = answer_whole_event;
    assert_string_equal(run(bench, LW_WATCH), "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," META "}\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, kube_bench_setup, kube_bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_f9_a_list_requests_metadata_and_keeps_the_kind),
        TEST(test_f9_a_watch_requests_metadata_and_keeps_the_kind),
        TEST(test_f9_of_complete_objects_no_more_than_metadata_is_kept),
        TEST(test_f9_a_server_that_refuses_gets_requests_for_complete_objects_from_then_on),
        TEST(test_f9_a_server_that_refuses_everything_is_an_error),
        TEST(test_f9_a_response_that_is_not_metadata_is_refused_alone),
        TEST(test_a_projection_acts_on_lists_and_watches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
