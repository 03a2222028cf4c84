/* Objects that the JSON parser refuses, in lists and on watches: each costs itself alone (R-19, H-19). */
#include "core/kube/support/stream_bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A field whose value is nested so deep. */
static char *nested(size_t depth)
{
    struct buf text = {0};
    buf_puts(&text, ",\"deep\":");
    for (size_t i = 0; i < depth; i++) buf_puts(&text, i % 2 ? "[" : "{\"]\":");
    buf_puts(&text, "1");
    while (depth-- > 0) buf_puts(&text, depth % 2 ? "]" : "}");
    return buf_take(&text);
}

struct damage {
    const char *field, *says;
};

/* Each costs its object alone, in a list and on a watch, wherever the bytes are cut. */
static void check_damage(struct stream_bench *bench, const struct damage *damage)
{
    char *item = xasprintf("{\"metadata\":{\"name\":\"bad\",\"namespace\":\"shop\"}%s}", damage->field);
    char *list = xasprintf(POD_LIST "},\"items\":[" ITEM("a") ",%s," ITEM("c") "]}", item);
    char *watch =
        xasprintf(EVENT("ADDED", POD("a", "")) "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\","
                                               "\"apiVersion\":\"v1\",%s}\n" EVENT("ADDED", POD("c", "")),
                  item + 1);
    for (size_t step = 1; step < 20000; step = step * 3 + 1) {
        if (!run_stream(bench, false, list, step)) fail_msg("%s", bench->err.text);
        expect_log(bench, "item shop/a\nrefused shop/bad\nitem shop/c\nend rv=100 continue= remaining=-1\n");
        assert_string_equal(bench->refused.text, damage->says);
        if (!run_stream(bench, true, watch, step)) fail_msg("%s", bench->err.text);
        expect_log(bench, "added shop/a\nrefused shop/bad\nadded shop/c\n");
        assert_string_equal(bench->refused.text, damage->says);
    }
    free(watch);
    free(list);
    free(item);
}

static void test_an_object_that_the_parser_refuses_is_refused_alone(void **state)
{
    char *deep = nested(1100), *deeper = nested(3000);
    const struct damage all[] = {
        {deep, "Pod shop/bad: invalid JSON: nested too deeply"},
        {deeper, "Pod shop/bad: invalid JSON: nested too deeply"},
        {",\"x\":\"\xff\"", "Pod shop/bad: invalid JSON: bytes that are not UTF-8"},
        {",\"x\":\"\\ud800\"", "Pod shop/bad: invalid JSON: a string is malformed"},
        {",\"x\":\"\\q\"", "Pod shop/bad: invalid JSON: a string is malformed"},
        {",\"x\":\"a\tb\"", "Pod shop/bad: invalid JSON: a control character inside a string"},
        {",\"x\":\"\x01\"", "Pod shop/bad: invalid JSON: a control character inside a string"},
        {",\"x\x1f\":1", "Pod shop/bad: invalid JSON: a control character inside a string"},
        {",\"x\":1e999", "Pod shop/bad: invalid JSON: a number is malformed or out of range"},
        {",\"x\":nil", "Pod shop/bad: invalid JSON: a malformed true, false or null"},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) check_damage(*state, &all[i]);
    free(deep);
    free(deeper);
}

static void test_a_null_is_refused_alone(void **state)
{
    struct stream_bench *bench = *state;
    for (size_t step = 1; step < 40; step += 7) {
        assert_true(run_stream(bench, false,
                               POD_LIST "},\"items\":[null," ITEM("a") ", null ," ITEM("b") "]}", step));
        expect_log(bench, "refused keyless\nitem shop/a\nrefused keyless\nitem shop/b\n"
                          "end rv=100 continue= remaining=-1\n");
        assert_true(run_stream(bench, true, EVENT("ADDED", "null") EVENT("ADDED", POD("b", "")), step));
        expect_log(bench, "refused keyless\nadded shop/b\n");
    }
}

static void test_a_line_end_in_a_text_of_a_list_refuses_its_object(void **state)
{
    struct stream_bench *bench = *state;
    const char *list =
        POD_LIST "},\"items\":[{\"metadata\":{\"name\":\"bad\"},\"x\":\"a\nb\"}," ITEM("b") "]}";
    for (size_t step = 1; step < 40; step += 7) {
        assert_true(run_stream(bench, false, list, step));
        expect_log(bench, "refused /bad\nitem shop/b\nend rv=100 continue= remaining=-1\n");
    }
    /* In a watch it is where an event was cut. */
    assert_false(run_stream(bench, true, EVENT("ADDED", POD("a", "\"\n")) EVENT("ADDED", POD("b", "")), 9));
}

static void test_what_is_not_an_object_is_refused_alone(void **state)
{
    struct stream_bench *bench = *state;
    static const char *const values[] = {"5",    "-1e5",        "1e999",  "true",    "nope",
                                         "\"\"", "\"a\\\",]\"", "[1,{}]", "\"\x01\""};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char *list = xasprintf(POD_LIST "},\"items\":[%s," ITEM("a") ", %s ]}", values[i], values[i]);
        for (size_t step = 1; step < 40; step += 7) {
            if (!run_stream(bench, false, list, step)) fail_msg("%s: %s", values[i], bench->err.text);
            expect_log(bench,
                       "refused keyless\nitem shop/a\nrefused keyless\nend rv=100 continue= remaining=-1\n");
        }
        free(list);
    }
    assert_true(
        run_stream(bench, true, EVENT("ADDED", "5") EVENT("MODIFIED", "[]") EVENT("ADDED", POD("b", "")), 9));
    expect_log(bench, "refused keyless\nrefused keyless\nadded shop/b\n");
}

/* H-19 */
static void test_big_numbers_are_kept_as_doubles(void **state)
{
    struct stream_bench *bench = *state;
    static const char expected[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},"
                                   "\"n\":[1.8446744073709552e+19,1e+20,-1e+20]}";
#define BIG "\"metadata\":{\"name\":\"a\"},\"n\":[18446744073709552000,1e20,-100000000000000000000]}"
    assert_true(run_stream(bench, false, POD_LIST "},\"items\":[{" BIG "]}", 9));
    expect_log(bench, "item a\nend rv=100 continue= remaining=-1\n");
    assert_string_equal(buf_text(&bench->last), expected);
    assert_true(run_stream(bench, true, EVENT("ADDED", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," BIG), 9));
    expect_log(bench, "added a\n");
    assert_string_equal(buf_text(&bench->last), expected);
}

static void test_names_of_a_list_may_be_written_with_escapes(void **state)
{
    struct stream_bench *bench = *state;
    for (size_t step = 1; step < 40; step++) {
        assert_true(
            run_stream(bench, false,
                       "{\"\\u006bind\":\"PodList\",\"apiV\\u0065rsion\":\"v1\",\"m\\u0065t\\u0061data\":{"
                       "\"resourceVersion\":\"5\"},\"\\\\u0069\":1,\"i\\u0074ems\":[" ITEM("a") "]}",
                       step));
        expect_log(bench, "item shop/a\nend rv=5 continue= remaining=-1\n");
    }
}

int main(void)
{
#define T(name)                                                                \
    cmocka_unit_test_setup_teardown(name, stream_setup, stream_teardown),      \
    {                                                                          \
#name " with packers", name, stream_setup_dealt, stream_teardown, NULL \
    }
    const struct CMUnitTest tests[] = {
        T(test_an_object_that_the_parser_refuses_is_refused_alone),
        T(test_a_null_is_refused_alone),
        T(test_a_line_end_in_a_text_of_a_list_refuses_its_object),
        T(test_what_is_not_an_object_is_refused_alone),
        T(test_big_numbers_are_kept_as_doubles),
        T(test_names_of_a_list_may_be_written_with_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
