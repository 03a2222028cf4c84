/* Watches and lists fed as bytes: which events come out, and what bad input does (R-14, R-19..R-21, H-10). */
#include "core/kube/support/stream_bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/api/client.h"

static void test_events_come_out_in_order_however_they_are_cut(void **state)
{
    struct stream_bench *bench = *state;
    const char *text =
        EVENT("ADDED", POD("a", "")) EVENT("MODIFIED", POD("a", ",\"labels\":{\"x\":\"}\\\"]\"}")) EVENT(
            "BOOKMARK", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"12\"}}")
            EVENT("DELETED", POD("a", ""));
    for (size_t step = 1; step <= strlen(text); step++) {
        assert_true(run_stream(bench, true, text, step));
        expect_log(bench, "added shop/a\nmodified shop/a\nbookmark 12\ndeleted shop/a\n");
    }
}

static void test_a_bookmark_ends_the_initial_events_only_with_exactly_true(void **state)
{
    struct stream_bench *bench = *state;
#define MARK(value)                                                                                         \
    EVENT(                                                                                                  \
        "BOOKMARK",                                                                                         \
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":{" \
        "\"k8s.io/initial-events-end\":" value "}},\"spec\":{\"containers\":null}}")
    assert_true(run_stream(bench, true, MARK("\"true\"") MARK("\"True\"") MARK("true") MARK("\"\""), 50));
    expect_log(bench, "bookmark 9 end\nbookmark 9\nbookmark 9\nbookmark 9\n");
}

static void test_an_error_event_ends_the_stream_with_its_status(void **state)
{
    struct stream_bench *bench = *state;
    assert_false(run_stream(
        bench, true,
        EVENT("ADDED", POD("a", "")) EVENT(
            "ERROR", "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                     "\"message\":\"too old resource version: 5 (19)\",\"reason\":\"Expired\",\"code\":410}")
            EVENT("ADDED", POD("b", "")),
        9));
    expect_log(bench, "added shop/a\n");
    assert_int_equal(bench->err.code, ERR_HTTP);
    assert_int_equal(bench->err.http_status, 410);
    assert_string_equal(bench->err.reason, "Expired");
    assert_string_equal(bench->err.text, "too old resource version: 5 (19)");
    assert_true(kube_err_is_expired(&bench->err));
}

static void test_an_error_event_without_a_status_is_a_parse_error(void **state)
{
    struct stream_bench *bench = *state;
    assert_false(run_stream(bench, true, EVENT("ERROR", POD("a", "")), 7));
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_string_equal(bench->err.text, "an ERROR event without a Status");
}

static void test_an_unknown_event_type_ends_the_stream(void **state)
{
    struct stream_bench *bench = *state;
    assert_false(run_stream(bench, true, EVENT("ADDED", POD("a", "")) EVENT("SYNC", POD("b", "")), 1000));
    expect_log(bench, "added shop/a\n");
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_string_equal(bench->err.text, "unknown event type \"SYNC\"");
    assert_false(run_stream(bench, true, "{\"object\":{}}\n", 1000));
    assert_string_equal(bench->err.text, "unknown event type \"\"");
    assert_false(run_stream(bench, true, "{\"type\":\"ADDED\"}\n", 1000));
    assert_string_equal(bench->err.text, "ADDED event without an object");
    assert_false(run_stream(bench, true, "[]\n", 1000));
    assert_string_equal(bench->err.text, "watch event: malformed JSON at its byte 0");
}

static void test_objects_without_metadata_are_refused_and_the_stream_goes_on(void **state)
{
    struct stream_bench *bench = *state;
    assert_true(run_stream(
        bench, true,
        EVENT("ADDED", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}") EVENT("ADDED", POD("b", ""))
            EVENT("MODIFIED", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{}}")
                EVENT("BOOKMARK", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}") EVENT("ADDED", POD("c", "")),
        33));
    expect_log(bench, "refused keyless\nadded shop/b\nrefused keyless\nrefused keyless\nadded shop/c\n");
}

static void test_invalid_json_and_a_truncated_line_end_the_stream(void **state)
{
    struct stream_bench *bench = *state;
    assert_false(run_stream(bench, true,
                            EVENT("ADDED", POD("a", "")) "{\"type\":\"ADDED\",\"object\":{\"kind\":}\n", 11));
    expect_log(bench, "added shop/a\n");
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_memory_equal(bench->err.text, "watch event: malformed JSON", 27);
    assert_false(run_stream(bench, true,
                            EVENT("ADDED", POD("a", "")) "{\"type\":\"ADDED\",\"object\":{\"kind\":", 11));
    expect_log(bench, "added shop/a\n");
    assert_int_equal(bench->err.code, ERR_CLOSED);
    assert_memory_equal(bench->err.text, "unexpected EOF", 14);
}

/* `head`, thousands of `fill`, `tail`. */
static char *big_text(const char *head, char fill, const char *tail)
{
    char filling[3000];
    memset(filling, fill, sizeof filling);
    return xasprintf("%s%.*s%s", head, (int)sizeof filling, filling, tail);
}

static void expect_refused(struct stream_bench *bench, const char *name, const char *big)
{
    char *text = xasprintf("%s: %zu bytes of JSON exceed --max-object-size 1000", name, strlen(big));
    assert_int_equal(bench->refused.code, ERR_LIMIT);
    assert_string_equal(bench->refused.text, text);
    free(text);
}

static void test_an_object_over_the_limit_is_refused_with_its_name(void **state)
{
    struct stream_bench *bench = *state;
    char *big = big_text("{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
                         "\"metadata\":{\"name\":\"big\","
                         "\"namespace\":\"shop\",\"labels\":{\"name\":\"no\"}},\"data\":\"",
                         'x', "\"}}");
    char *text = xasprintf(EVENT("ADDED", POD("a", "")) "%s\n" EVENT("ADDED", POD("c", "")), big);
    for (size_t step = 1; step < 5000; step += 311) {
        open_stream(bench, true, 1000);
        assert_true(feed_stream(bench, text, step) && stream_end(bench->stream, &bench->err));
        expect_log(bench, "added shop/a\nrefused shop/big\nadded shop/c\n");
        expect_refused(bench, "Pod shop/big", big);
    }
    free(text);
    free(big);
}

static void test_list_items_get_the_type_of_their_list(void **state)
{
    struct stream_bench *bench = *state;
    const char *text =
        POD_LIST ",\"continue\":\"tok\",\"remainingItemCount\":7},\"items\":[" ITEM("a") "," ITEM("b") "]}\n";
    for (size_t step = 1; step <= strlen(text); step++) {
        assert_true(run_stream(bench, false, text, step));
        expect_log(bench, "item shop/a\nitem shop/b\nend rv=100 continue=tok remaining=7\n");
        assert_string_equal(
            buf_text(&bench->last),
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\",\"namespace\":\"shop\"},"
            "\"spec\":{\"x\":[\"}\",{\"y\":\"\\\\\"}]}}");
    }
}

static void test_the_type_comes_from_the_list_even_when_it_is_not_the_expected_one(void **state)
{
    struct stream_bench *bench = *state;
    assert_true(run_stream(
        bench, false,
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"DeploymentList\",\"metadata\":{},\"items\":[" ITEM("a") "]}",
        5));
    assert_memory_equal(buf_text(&bench->last), "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"", 43);
    expect_log(bench, "item shop/a\nend rv= continue= remaining=-1\n");
}

static void test_a_list_that_names_its_type_last_uses_the_resource_s(void **state)
{
    struct stream_bench *bench = *state;
    assert_true(run_stream(
        bench, false,
        "{\"items\":[" ITEM(
            "a") "],\"metadata\":{\"resourceVersion\":\"4\"},\"kind\":\"PodList\",\"apiVersion\":\"v1\"}",
        6));
    expect_log(bench, "item shop/a\nend rv=4 continue= remaining=-1\n");
    assert_memory_equal(buf_text(&bench->last), "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"", 31);
}

static void test_items_of_a_bare_list_must_name_themselves(void **state)
{
    struct stream_bench *bench = *state;
    assert_true(run_stream(bench, false,
                           "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{},\"items\":[" ITEM(
                               "a") "," POD("b", "") "]}",
                           5));
    expect_log(bench, "refused shop/a\nitem shop/b\nend rv= continue= remaining=-1\n");
}

static void test_null_and_empty_items_are_an_empty_list(void **state)
{
    struct stream_bench *bench = *state;
    assert_true(run_stream(bench, false, POD_LIST "},\"items\":null}", 3));
    expect_log(bench, "end rv=100 continue= remaining=-1\n");
    assert_true(run_stream(bench, false, POD_LIST "},\"items\":[ ]}", 3));
    expect_log(bench, "end rv=100 continue= remaining=-1\n");
    assert_false(run_stream(bench, false, POD_LIST "},\"items\":{}}", 3));
    assert_string_equal(bench->err.text, "list: items is not an array");
}

static void test_a_table_is_no_list(void **state)
{
    struct stream_bench *bench = *state;
    assert_false(
        run_stream(bench, false,
                   "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{},\"rows\":[]}", 10));
    assert_int_equal(bench->err.code, ERR_PARSE);
    assert_string_equal(bench->err.text, "the server returned a Table instead of objects");
    assert_false(run_stream(bench, false, POD("a", ""), 10));
    assert_string_equal(bench->err.text, "the server returned \"Pod\" instead of a list");
    expect_log(bench, "");
}

static void test_broken_lists_are_errors(void **state)
{
    struct stream_bench *bench = *state;
    static const struct {
        const char *text;
        enum err_code code;
        const char *message;
    } cases[] = {
        {"", ERR_CLOSED, "unexpected EOF: the list ended after 0 bytes"},
        {POD_LIST "},\"items\":[" ITEM("a"), ERR_CLOSED, "unexpected EOF: the list ended after"},
        {"<html>", ERR_PARSE, "malformed list: '{' expected at byte 0"},
        {"{\"items\":[:]}", ERR_PARSE, "malformed list: an object as item expected at byte 10"},
        {"{\"items\":[{}{}]}", ERR_PARSE, "malformed list: ',' or ']' expected at byte 12"},
        {"{\"items\":[{},]}", ERR_PARSE, "malformed list: an object as item expected at byte 13"},
        {"{\"items\":[]]}", ERR_PARSE, "malformed list: ',' or '}' expected at byte 11"},
        {"{\"items\" []}", ERR_PARSE, "malformed list: ':' expected at byte 9"},
        {"{\"a\":1,}", ERR_PARSE, "malformed list: a field's name expected at byte 7"},
        {POD_LIST "},\"items\":[]} x", ERR_PARSE, "malformed list: the end expected at byte"},
        {POD_LIST "},\"items\":[{\"a\":}]}", ERR_PARSE, "list item: invalid JSON"},
        {POD_LIST "},\"x\":nope,\"items\":[]}", ERR_PARSE, "list: invalid JSON"},
        {"{\"items\":[]}", ERR_PARSE, "the server returned \"\" instead of a list"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t step = 1; step < 40; step += 7) {
            assert_false(run_stream(bench, false, cases[i].text, step));
            assert_int_equal(bench->err.code, cases[i].code);
            if (strncmp(bench->err.text, cases[i].message, strlen(cases[i].message)) != 0)
                fail_msg("\"%s\" is not \"%s\"", bench->err.text, cases[i].message);
        }
    }
}

static void test_an_item_over_the_limit_is_refused_with_its_name(void **state)
{
    struct stream_bench *bench = *state;
    char *big = big_text("{\"metadata\":{\"name\":\"big\"},\"x\":\"", '{', "\"}");
    char *text = xasprintf(POD_LIST "},\"items\":[" ITEM("a") ",%s," ITEM("c") "]}", big);
    for (size_t step = 1; step < 5000; step += 311) {
        open_stream(bench, false, 1000);
        assert_true(feed_stream(bench, text, step) && stream_end(bench->stream, &bench->err));
        expect_log(bench, "item shop/a\nrefused /big\nitem shop/c\nend rv=100 continue= remaining=-1\n");
        expect_refused(bench, "Pod big", big);
    }
    free(text);
    free(big);
}

static void test_nothing_comes_after_a_stop(void **state)
{
    struct stream_bench *bench = *state;
    const char *watch = EVENT("ADDED", POD("a", "")) EVENT("ADDED", "{}") EVENT("ADDED", POD("c", ""));
    open_stream(bench, true, 1 << 20);
    bench->stop_after = 1;
    assert_false(feed_stream(bench, watch, 1000));
    assert_int_equal(bench->err.code, ERR_NONE);
    expect_log(bench, "added shop/a\nrefused keyless\n");
    open_stream(bench, false, 1 << 20);
    bench->stop_after = 0;
    assert_false(feed_stream(bench, POD_LIST "},\"items\":[" ITEM("a") "," ITEM("b") "]}", 1000));
    assert_int_equal(bench->err.code, ERR_NONE);
    expect_log(bench, "item shop/a\n");
}

int main(void)
{
#define T(name)                                                                \
    cmocka_unit_test_setup_teardown(name, stream_setup, stream_teardown),      \
    {                                                                          \
#name " with packers", name, stream_setup_dealt, stream_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        T(test_events_come_out_in_order_however_they_are_cut),
        T(test_a_bookmark_ends_the_initial_events_only_with_exactly_true),
        T(test_an_error_event_ends_the_stream_with_its_status),
        T(test_an_error_event_without_a_status_is_a_parse_error),
        T(test_an_unknown_event_type_ends_the_stream),
        T(test_objects_without_metadata_are_refused_and_the_stream_goes_on),
        T(test_invalid_json_and_a_truncated_line_end_the_stream),
        T(test_an_object_over_the_limit_is_refused_with_its_name),
        T(test_list_items_get_the_type_of_their_list),
        T(test_the_type_comes_from_the_list_even_when_it_is_not_the_expected_one),
        T(test_a_list_that_names_its_type_last_uses_the_resource_s),
        T(test_items_of_a_bare_list_must_name_themselves),
        T(test_null_and_empty_items_are_an_empty_list),
        T(test_a_table_is_no_list),
        T(test_broken_lists_are_errors),
        T(test_an_item_over_the_limit_is_refused_with_its_name),
        T(test_nothing_comes_after_a_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
