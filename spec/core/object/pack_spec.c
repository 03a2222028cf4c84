/* core/object/pack: from JSON text to objects and back. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/dict.h"

static void assert_round_trip(struct packer *packer, const char *json, const char *expected)
{
    struct root *root = pack_ok(packer, json);
    assert_string_equal(json_of(root_value(root)), expected);
    root_unref(root);
}

static void test_random_documents_come_back_as_they_were(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("random documents");
    for (int i = 0; i < 3000; i++) {
        struct buf text = {0}, expected = {0};
        buf_puts(&text, "{\"metadata\":{\"name\":\"x\"},\"it\":");
        buf_puts(&expected,
                 "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"x\"},\"it\":");
        random_value(&r, 5, &text, &expected);
        buf_putc(&text, '}');
        buf_putc(&expected, '}');
        assert_round_trip(f->packer, buf_text(&text), buf_text(&expected));
        buf_clear(&text);
        buf_clear(&expected);
    }
}

/* Many alive at once share what they have in common, whatever order they come and go in. */
static void test_random_documents_live_side_by_side(void **state)
{
    enum { ALIVE = 64 };
    struct fixture *f = *state;
    struct random r = random_start("random documents, many alive");
    struct root *root[ALIVE] = {NULL};
    char *expected[ALIVE] = {NULL};
    for (int i = 0; i < 4000; i++) {
        uint32_t at = random_below(&r, ALIVE);
        if (root[at]) {
            assert_string_equal(json_of(value_field(root_value(root[at]), STR("it"))), expected[at]);
            root_unref(root[at]);
            free(expected[at]);
        }
        struct buf text = {0}, wanted = {0};
        struct value it;
        random_value(&r, 3, &text, &wanted);
        root[at] = pack_it(f->packer, buf_text(&text), &it);
        expected[at] = buf_take(&wanted);
        buf_clear(&text);
    }
    for (size_t i = 0; i < ALIVE; i++) {
        root_unref(root[i]);
        free(expected[i]);
    }
}

static void test_api_version_and_kind_come_first(void **state)
{
    struct fixture *f = *state;
    assert_round_trip(
        f->packer, "{\"metadata\":{\"name\":\"a\"},\"z\":1,\"b\":2}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\"},\"z\":1,\"b\":2}");
    assert_round_trip(f->packer,
                      "{\"z\":1,\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\"apiVersion\":\"apps/v1\"}",
                      "{\"apiVersion\":\"apps/v1\",\"kind\":\"Pod\",\"z\":1,\"metadata\":{\"name\":\"a\"}}");
    assert_round_trip(f->packer, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
                      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}");
}

static void test_without_a_type_the_text_must_say_it(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {"{\"metadata\":{\"name\":\"a\"}}",
                                        "{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}"};
    static const char *const errors[] = {"a: object without apiVersion", "a: object without kind"};
    for (size_t i = 0; i < 2; i++) {
        char padded[256] = {0};
        struct root *root;
        struct err err;
        strcpy(padded, texts[i]);
        assert_false(pack_text(f->packer, padded, strlen(padded), NULL, &root, &err));
        assert_string_equal(err.text, errors[i]);
        assert_int_equal(err.code, ERR_PARSE);
    }
}

static void test_of_equal_keys_the_last_stays(void **state)
{
    struct fixture *f = *state;
    struct value it;
    struct root *root =
        pack_it(f->packer,
                "{\"a\":\"some longer text\",\"b\":1.5,\"a\":{\"c\":[1,2.5]},\"k:{x}\":\"first one\","
                "\"d\":\"after\",\"k:{x}\":\"second one\"}",
                &it);
    assert_string_equal(json_of(it),
                        "{\"b\":1.5,\"a\":{\"c\":[1,2.5]},\"d\":\"after\",\"k:{x}\":\"second one\"}");
    struct value plain;
    struct root *same = pack_it(
        f->packer, "{\"b\":1.5,\"a\":{\"c\":[1,2.5]},\"d\":\"after\",\"k:{x}\":\"second one\"}", &plain);
    assert_ptr_equal(root, same);
    root_unref(root);
    root_unref(same);
}

static void test_a_key_that_comes_a_thousand_times_is_stored_once(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    buf_putc(&text, '{');
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "%s\"a\":\"text number %d\",\"b%d\":%d.5", i ? "," : "", i, i, i);
    buf_putc(&text, '}');
    struct value it;
    struct root *root = pack_it(f->packer, buf_text(&text), &it);
    assert_int_equal(value_count(it), 1001);
    struct text room;
    assert_true(str_is(value_str(value_field(it, STR("a")), &room), "text number 999"));
    assert_true(value_double(value_field(it, STR("b500"))) == 500.5);
    root_unref(root);
    buf_clear(&text);
}

/* The last metadata is the one that names the object. */
static void test_metadata_twice(void **state)
{
    struct fixture *f = *state;
    struct root *root = pack_ok(
        f->packer, "{\"metadata\":{\"name\":\"first-name\",\"labels\":{\"a\":\"b\"}},\"spec\":\"something\","
                   "\"metadata\":{\"namespace\":\"shop\",\"name\":\"wrong-name\",\"name\":\"second-name\"}}");
    struct text text;
    assert_true(str_is(root_name(root, &text), "second-name"));
    assert_true(str_is(root_namespace(root, &text), "shop"));
    assert_int_equal(value_type(root_labels(root)), VALUE_ABSENT);
    assert_true(root_key_hash(root) == key_hash(STR("shop"), STR("second-name")));
    root_unref(root);
}

static void test_every_field_of_the_root_is_found(void **state)
{
    struct fixture *f = *state;
    struct root *root = pack_ok(
        f->packer, "{\"metadata\":{\"annotations\":{\"note\":\"n\"},\"labels\":{\"app\":\"web\"},\"name\":"
                   "\"web-1\",\"namespace\":\"ns\","
                   "\"resourceVersion\":\"1000000007\",\"uid\":\"0f8fad5b-d9cb-469f-a165-70867728950e\"}}");
    struct text text;
    assert_true(str_is(root_name(root, &text), "web-1"));
    assert_true(str_is(root_namespace(root, &text), "ns"));
    assert_true(str_is(root_uid(root, &text), "0f8fad5b-d9cb-469f-a165-70867728950e"));
    assert_true(str_is(root_resource_version(root, &text), "1000000007"));
    assert_string_equal(json_of(root_labels(root)), "{\"app\":\"web\"}");
    assert_string_equal(json_of(root_annotations(root)), "{\"note\":\"n\"}");
    struct buf key = {0};
    root_key(root, &key);
    assert_string_equal(buf_text(&key), "ns/web-1");
    buf_clear(&key);
    assert_true(root_key_is(root, STR("ns"), STR("web-1")));
    assert_false(root_key_is(root, STR(""), STR("web-1")));
    assert_false(root_key_is(root, STR("ns"), STR("web-2")));
    root_unref(root);
}

static void test_a_cluster_scoped_object_has_its_name_as_key(void **state)
{
    struct fixture *f = *state;
    struct root *root = pack_ok(f->packer, "{\"metadata\":{\"name\":\"node-1\"}}");
    struct root *empty = pack_ok(f->packer, "{\"metadata\":{\"name\":\"node-1\",\"namespace\":\"\"}}");
    struct buf key = {0};
    root_key(root, &key);
    assert_string_equal(buf_text(&key), "node-1");
    buf_clear(&key);
    assert_true(root_key_is(root, STR(""), STR("node-1")));
    assert_true(root_key_is(empty, STR(""), STR("node-1")));
    assert_true(root_key_equal(root, empty));
    struct text text;
    assert_int_equal(root_uid(root, &text).n, 0);
    root_unref(root);
    root_unref(empty);
}

static void test_metadata_of_odd_types_is_kept_but_not_used(void **state)
{
    struct fixture *f = *state;
    struct root *root = pack_ok(f->packer, "{\"metadata\":{\"name\":\"x\",\"namespace\":5,\"uid\":{\"a\":1},"
                                           "\"labels\":[1],\"resourceVersion\":null}}");
    struct text text;
    assert_int_equal(root_namespace(root, &text).n, 0);
    assert_int_equal(root_uid(root, &text).n, 0);
    assert_int_equal(value_int(at_path(root_value(root), "metadata.namespace")), 5);
    assert_true(root_key_is(root, STR(""), STR("x")));
    root_unref(root);
}

/* More keys than a shape takes: every kind of map finds its metadata. */
static void test_metadata_with_hundreds_of_keys(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    buf_puts(&text, "{\"metadata\":{");
    for (int i = 0; i < 400; i++) buf_printf(&text, "\"extra%d\":%d,", i, i);
    buf_puts(&text, "\"name\":\"the-name\",\"namespace\":\"the-namespace\"}}");
    struct root *root = pack_ok(f->packer, buf_text(&text));
    assert_true(root_key_is(root, STR("the-namespace"), STR("the-name")));
    assert_int_equal(value_int(at_path(root_value(root), "metadata.extra399")), 399);
    root_unref(root);
    buf_clear(&text);
}

static void test_what_is_no_object_is_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *json, *error;
    } cases[] = {
        {"[]", "not a JSON object"},
        {"\"text\"", "not a JSON object"},
        {"7", "not a JSON object"},
        {"{}", "Thing: object without metadata"},
        {"{\"metadata\":null}", "Thing: object without metadata"},
        {"{\"metadata\":[]}", "Thing: object without metadata"},
        {"{\"metadata\":{}}", "Thing: object without metadata.name"},
        {"{\"metadata\":{\"name\":\"\"}}", "Thing: object without metadata.name"},
        {"{\"metadata\":{\"name\":1}}", "Thing: object without metadata.name"},
        {"{\"kind\":\"\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}", "b/a: object without kind"},
        {"{\"apiVersion\":7,\"metadata\":{\"name\":\"a\"}}", "Thing a: object without apiVersion"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = pack_fails(f->packer, cases[i].json);
        assert_string_equal(err.text, cases[i].error);
        assert_int_equal(err.code, ERR_PARSE);
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
    struct err err = pack_fails(f->packer, "{\"metadata\":{\"name\":\"x\"},\"n\":18446744073709551616}");
    assert_string_equal(err.text,
                        "invalid JSON: a number is malformed or out of range (integers have 64 bits)");
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
    assert_string_equal(err.text, "Thing x: a key of 65537 bytes (at most 65536)");
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

/* Both ways into the packer know the same object. */
static void test_an_object_inside_a_larger_text(void **state)
{
    struct fixture *f = *state;
    char line[512] = {0};
    strcpy(line, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
                 "\"name\":\"a\",\"uid\":\"u\"}}}");
    struct tape_parser *parser = tape_parser_new();
    struct tape tape;
    struct err err;
    assert_true(tape_parse(parser, line, strlen(line), &tape, &err));
    struct root *root, *alone;
    assert_true(
        pack_tape(f->packer, &tape, tape_field(&tape, tape_root(&tape), STR("object")), NULL, &root, &err));
    alone = pack_ok(f->packer,
                    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}");
    assert_ptr_equal(root, alone);
    assert_false(
        pack_tape(f->packer, &tape, tape_field(&tape, tape_root(&tape), STR("type")), NULL, &alone, &err));
    assert_string_equal(err.text, "not a JSON object");
    assert_false(pack_tape(f->packer, &tape, 0, NULL, &alone, &err));
    root_unref(root);
    root_unref(root);
    tape_parser_free(parser);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_random_documents_come_back_as_they_were),
        TEST(test_random_documents_live_side_by_side),
        TEST(test_api_version_and_kind_come_first),
        TEST(test_without_a_type_the_text_must_say_it),
        TEST(test_of_equal_keys_the_last_stays),
        TEST(test_a_key_that_comes_a_thousand_times_is_stored_once),
        TEST(test_metadata_twice),
        TEST(test_every_field_of_the_root_is_found),
        TEST(test_a_cluster_scoped_object_has_its_name_as_key),
        TEST(test_metadata_of_odd_types_is_kept_but_not_used),
        TEST(test_metadata_with_hundreds_of_keys),
        TEST(test_what_is_no_object_is_refused),
        TEST(test_invalid_json_is_refused),
        TEST(test_nesting_has_a_limit),
        TEST(test_keys_have_a_longest),
        TEST(test_a_failure_leaves_nothing_behind),
        TEST(test_an_array_of_a_million),
        TEST(test_a_map_of_a_hundred_thousand),
        TEST(test_an_object_inside_a_larger_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
