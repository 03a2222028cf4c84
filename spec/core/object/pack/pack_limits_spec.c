/* core/object/pack: what is refused, and what is large and is not. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void test_what_is_no_object_is_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *json, *error;
    } cases[] = {
        {"[]", "not a JSON object"},
        {"\"text\"", "not a JSON object"},
        {"7", "not a JSON object"},
        {"{}", "Thing: missing metadata"},
        {"{\"metadata\":null}", "Thing: missing metadata"},
        {"{\"metadata\":[]}", "Thing: metadata is a list, not a map"},
        {"{\"metadata\":\"foo\"}", "Thing: metadata is a string, not a map"},
        {"{\"metadata\":{\"name\":null}}", "Thing: missing metadata.name"},
        {"{\"metadata\":{}}", "Thing: missing metadata.name"},
        {"{\"metadata\":{\"name\":\"\"}}", "Thing: missing metadata.name"},
        {"{\"metadata\":{\"name\":1}}", "Thing: metadata.name is a number, not a string: quote it"},
        {"{\"metadata\":{\"name\":-1.5}}", "Thing: metadata.name is a number, not a string: quote it"},
        {"{\"metadata\":{\"name\":false}}", "Thing: metadata.name is a boolean, not a string: quote it"},
        {"{\"metadata\":{\"name\":true}}", "Thing: metadata.name is a boolean, not a string: quote it"},
        {"{\"metadata\":{\"name\":{}}}", "Thing: metadata.name is a map, not a string"},
        {"{\"kind\":\"\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}", "b/a: missing kind"},
        {"{\"metadata\":{\"name\":\"\\u0000a\"}}", "Thing : metadata.name must not contain a NUL byte"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"\\u0000b\"}}",
         "Thing /a: metadata.namespace must not contain a NUL byte"},
        {"{\"metadata\":{\"name\":\"a\",\"uid\":\"1\\u0000\"}}",
         "Thing a: metadata.uid must not contain a NUL byte"},
        {"{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"\\u00007\"}}",
         "Thing a: metadata.resourceVersion must not contain a NUL byte"},
        {"{\"kind\":\"Pod\\u0000s\",\"metadata\":{\"name\":\"a\"}}",
         "Pod a: kind must not contain a NUL byte"},
        {"{\"apiVersion\":\"v1\\u0000\",\"metadata\":{\"name\":\"a\"}}",
         "Thing a: apiVersion must not contain a NUL byte"},
        {"{\"apiVersion\":7,\"metadata\":{\"name\":\"a\"}}", "Thing a: missing apiVersion"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = pack_fails(f->packer, cases[i].json);
        assert_string_equal(err.text, cases[i].error);
        assert_int_equal(err.code, ERR_PARSE);
    }
}

/* What a server answers to a TokenReview has no name, and a pool must not stumble over it. */
static void test_a_name_may_be_absent_where_the_type_allows_it(void **state)
{
    struct fixture *f = *state;
    static const char *const good[] = {
        "{}",
        "{\"metadata\":{}}",
        "{\"metadata\":{\"name\":1}}",
        "{\"metadata\":{\"namespace\":\"shop\",\"labels\":{\"a\":\"b\"}},\"status\":{}}",
    };
    static const char *const bad[] = {
        "{\"metadata\":\"a text that is long enough to stand outside of its word\"}", "{\"metadata\":[1]}",
        "[]"};
    const struct pack_type type = {.api_version = STR("v1"), .kind = STR("Review"), .nameless = true};
    struct text text;
    struct root *root;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        char json[256] = {0};
        strcpy(json, good[i]);
        assert_true(pack_text(f->packer, json, strlen(json), &type, &root, &err));
        assert_int_equal(root_name(root, &text).n, 0);
        assert_int_equal(root_uid(root, &text).n, 0);
        assert_int_equal(root_namespace(root, &text).n, i == 3 ? 4 : 0);
        assert_int_equal(value_count(root_labels(root)), i == 3 ? 1 : 0);
        root_unref(root);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char json[256] = {0};
        strcpy(json, bad[i]);
        assert_false(pack_text(f->packer, json, strlen(json), &type, &root, &err));
    }
}

static void test_invalid_json_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {"",
                                        " ",
                                        "{",
                                        "{\"a\":1",
                                        "{\"a\" 1}",
                                        "{\"a\":1,}",
                                        "[1,]",
                                        "{\"a\":01}",
                                        "{\"a\":\"\x01\"}",
                                        "{\"a\":\"\\x\"}",
                                        "{\"a\":tru}",
                                        "{\"a\":1} {",
                                        "{\"a\":\"\xff\"}",
                                        "{\"a\":\"x}",
                                        "{\"a\":-}"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = pack_fails(f->packer, texts[i]);
        assert_int_equal(err.code, ERR_PARSE);
        assert_memory_equal(err.text, "invalid JSON: ", 14);
    }
    struct err err = pack_fails(f->packer, "{\"metadata\":{\"name\":\"x\"},\"n\":1e400}");
    assert_string_equal(err.text, "invalid JSON: a number is malformed or out of range");
}

static char *nested(int maps, const char *innermost)
{
    struct buf text = {0};
    buf_puts(&text, "{\"metadata\":{\"name\":\"deep\",\"namespace\":\"ns\"},\"it\":");
    for (int i = 0; i < maps; i++) buf_puts(&text, i % 2 ? "[" : "{\"a\":");
    buf_puts(&text, innermost);
    for (int i = maps - 1; i >= 0; i--) buf_puts(&text, i % 2 ? "]" : "}");
    buf_puts(&text, "}");
    return buf_take(&text);
}

static void test_nesting_has_a_limit(void **state)
{
    struct fixture *f = *state;
    char *deepest = nested(PACK_DEPTH_MAX - 1, "1"), *deeper = nested(PACK_DEPTH_MAX, "1");
    struct root *root = pack_ok(f->packer, deepest);
    const char *text = json_of(root_value(root));
    assert_non_null(strstr(text, deepest + 1));
    root_unref(root);
    struct err err = pack_fails(f->packer, deeper);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "Thing ns/deep: nested deeper than 100");
    free(deepest);
    free(deeper);
    char *parser_refuses = nested(5000, "1");
    err = pack_fails(f->packer, parser_refuses);
    assert_string_equal(err.text, "invalid JSON: nested too deeply");
    free(parser_refuses);
}

static char *with_key(size_t length)
{
    struct buf text = {0};
    buf_puts(&text, "{\"metadata\":{\"name\":\"x\"},\"it\":{\"");
    memset(buf_reserve(&text, length), 'k', length);
    text.len += length;
    buf_puts(&text, "\":1}}");
    return buf_take(&text);
}

static void test_keys_have_a_longest(void **state)
{
    struct fixture *f = *state;
    char *longest = with_key(PACK_KEY_LENGTH_MAX), *longer = with_key(PACK_KEY_LENGTH_MAX + 1);
    struct root *root = pack_ok(f->packer, longest);
    assert_non_null(strstr(json_of(root_value(root)), longest + 1));
    root_unref(root);
    struct err err = pack_fails(f->packer, longer);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_string_equal(err.text, "Thing x: key of 65537 bytes exceeds the maximum of 65536");
    free(longest);
    free(longer);
}

static void test_a_failure_leaves_nothing_behind(void **state)
{
    struct fixture *f = *state;
    char *deeper = nested(PACK_DEPTH_MAX,
                          "{\"text\":\"a text that is long enough to be a node of its own, and then some\"}");
    char *text = xasprintf("{\"metadata\":{\"name\":\"x\"},\"list\":[\"a text that is long enough to be a "
                           "node of its own\",%s]}",
                           deeper);
    pack_fails(f->packer, text);
    struct pool_stats stats = pool_stats(f->pool);
    assert_int_equal(stats.nodes, 0);
    assert_int_equal(stats.used_bytes, 0);
    free(deeper);
    free(text);
}

static void test_an_array_of_a_million(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    buf_putc(&text, '[');
    for (int i = 0; i < 1000000; i++) buf_printf(&text, "%s%d", i ? "," : "", i);
    buf_putc(&text, ']');
    struct value it;
    struct root *root = pack_it(f->packer, buf_text(&text), &it);
    assert_int_equal(value_count(it), 1000000);
    assert_int_equal(value_int(value_item(it, 999999)), 999999);
    root_unref(root);
    root = pack_ok(f->packer, "{\"metadata\":{\"name\":\"small again\"}}");
    root_unref(root);
    buf_clear(&text);
}

static void test_a_map_of_a_hundred_thousand(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    buf_putc(&text, '{');
    for (int i = 0; i < 100000; i++) buf_printf(&text, "%s\"k:{%d}\":%d", i ? "," : "", i % 99999, i);
    buf_putc(&text, '}');
    struct value it;
    struct root *root = pack_it(f->packer, buf_text(&text), &it);
    assert_int_equal(value_count(it), 99999);
    assert_int_equal(value_int(value_field(it, STR("k:{0}"))), 99999);
    assert_int_equal(value_int(value_field(it, STR("k:{99998}"))), 99998);
    root_unref(root);
    buf_clear(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_no_object_is_refused), TEST(test_a_name_may_be_absent_where_the_type_allows_it),
        TEST(test_invalid_json_is_refused),      TEST(test_nesting_has_a_limit),
        TEST(test_keys_have_a_longest),          TEST(test_a_failure_leaves_nothing_behind),
        TEST(test_an_array_of_a_million),        TEST(test_a_map_of_a_hundred_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
