/* core/object/pack: from JSON text to objects and back. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/dict.h"

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

static void test_without_a_type_the_text_must_have_it(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {"{\"metadata\":{\"name\":\"a\"}}",
                                        "{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}"};
    static const char *const errors[] = {"a: missing apiVersion", "a: missing kind"};
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

/* In a map in ascending order, too long for a shape, with one key that is the beginning of the next. */
static void test_a_key_that_comes_twice_in_a_row(void **state)
{
    struct fixture *f = *state;
    for (int twice = 0; twice < 2; twice++) {
        struct buf text = {0};
        buf_puts(&text, "{\"k\":0");
        for (int i = 0; i < 300; i++) buf_printf(&text, ",\"k%04d\":%d", i, i);
        if (twice) buf_puts(&text, ",\"k0299\":\"again\"");
        buf_putc(&text, '}');
        struct value it;
        struct root *root = pack_it(f->packer, buf_text(&text), &it);
        assert_int_equal(value_count(it), 301);
        assert_int_equal(value_type(value_field(it, STR("k0299"))), twice ? VALUE_STRING : VALUE_INT);
        root_unref(root);
        buf_clear(&text);
    }
}

/* Nothing has been written to the area of the encoder when its entries move. */
static void test_a_key_that_comes_twice_before_all_else(void **state)
{
    struct fixture *f = *state;
    struct root *root = pack_ok(f->packer, "{\"it\":{\"a\":1,\"a\":2},\"metadata\":{\"name\":\"x\"}}");
    assert_string_equal(json_of(at_path(root_value(root), "it")), "{\"a\":2}");
    root_unref(root);
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

static void test_a_text_is_known_again_while_its_object_lives(void **state)
{
    struct fixture *f = *state;
    struct str text = STR("{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}");
    struct pack_type pod = {.api_version = STR("v1"), .kind = STR("Pod")};
    struct pack_type node = {.api_version = STR("v1"), .kind = STR("Node")};
    char padded[256] = {0};
    memcpy(padded, text.p, text.n);
    struct tape_parser *parser = tape_parser_new();
    struct tape tape;
    struct root *root;
    struct err err;
    struct pack_mark hash, other;
    assert_null(pack_recall(f->packer, text, &pod, &hash));
    assert_true(tape_parse(parser, padded, text.n, &tape, &err));
    assert_true(pack_tape(f->packer, &tape, tape_root(&tape), &pod, &root, &err));
    assert_null(pack_recall(f->packer, text, &pod, &other)); /* nobody said that it came from there */
    assert_true(hash.whole == other.whole);
    pack_remember(f->packer, root, &hash);
    struct root *again = pack_recall(f->packer, text, &pod, &hash);
    assert_ptr_equal(again, root);
    assert_null(pack_recall(f->packer, text, &node, &hash)); /* the same text of another type */
    assert_null(pack_recall(f->packer, text, NULL, &hash));
    root_unref(again);
    root_unref(root);
    assert_null(pack_recall(f->packer, text, &pod, &hash));
    tape_parser_free(parser);
}

/* Without a version there is nothing to check a hash by. */
static void test_a_text_without_a_version_is_not_known_again(void **state)
{
    struct fixture *f = *state;
    struct root *root = pack_ok(f->packer, "{\"metadata\":{\"name\":\"a\"}}");
    struct pack_type type = {.api_version = STR("v1"), .kind = STR("Thing")};
    struct pack_mark hash;
    assert_null(pack_recall(f->packer, STR("{\"metadata\":{\"name\":\"a\"}}"), &type, &hash));
    struct root *again = pack_ok(f->packer, "{\"metadata\":{\"name\":\"a\"}}");
    assert_ptr_equal(root, again);
    root_unref(root);
    root_unref(again);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_random_documents_come_back_as_they_were),
        TEST(test_random_documents_live_side_by_side),
        TEST(test_api_version_and_kind_come_first),
        TEST(test_without_a_type_the_text_must_have_it),
        TEST(test_of_equal_keys_the_last_stays),
        TEST(test_a_key_that_comes_a_thousand_times_is_stored_once),
        TEST(test_a_key_that_comes_twice_in_a_row),
        TEST(test_a_key_that_comes_twice_before_all_else),
        TEST(test_metadata_twice),
        TEST(test_every_field_of_the_root_is_found),
        TEST(test_a_cluster_scoped_object_has_its_name_as_key),
        TEST(test_metadata_of_odd_types_is_kept_but_not_used),
        TEST(test_metadata_with_hundreds_of_keys),
        TEST(test_an_object_inside_a_larger_text),
        TEST(test_a_text_is_known_again_while_its_object_lives),
        TEST(test_a_text_without_a_version_is_not_known_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
