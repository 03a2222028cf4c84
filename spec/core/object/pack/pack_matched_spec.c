/* core/object/pack/pack_matched.c: what a projection keeps, by tokens whose brackets are matched, is what the
 * tape gives, or nothing. */
#include "core/object/support/objects.h"
#include "core/object/support/projections.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/pack/projection.h"
#include "object/parse/token.h"

/* The object stands among others, as in a list. */
static struct root *matched_by(struct packer *packer, struct str text, const struct projection *projection)
{
    struct pack_type type = thing_type;
    struct buf list = {0};
    struct tokens t;
    struct root *root = NULL;
    struct token_parser *parser = token_parser_new();
    type.always = true;
    type.projection = projection;
    buf_printf(&list, "[{},%.*s ,{}]", STR_ARG(text));
    char *p = padded(buf_slice(&list));
    if (tokens_find(parser, p, list.len, &t)) {
        uint32_t *close = xcalloc(t.count, sizeof *close);
        token_match(&t, 0, close);
        if (!pack_matched(packer, &t, close, 4, &type, &root)) assert_null(root);
        free(close);
    }
    token_parser_free(parser);
    buf_clear(&list);
    free(p);
    return root;
}

/* The tape is right where both say something. What is dropped may be wrong in a way that only the tape sees.
 */
static bool agree(struct packer *packer, struct str text, const struct projection *projection, bool damaged)
{
    struct root *expected = by_tape_as(packer, text, projection, true),
                *root = matched_by(packer, text, projection);
    bool taken = root != NULL;
    if (root && expected) assert_ptr_equal(root, expected);
    if (root && !expected) assert_true(damaged);
    root_unref(root);
    root_unref(expected);
    return taken;
}

static void test_random_documents_match_the_tape(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("projected documents");
    struct buf text = {0};
    size_t taken = 0, count = 6000;
    for (size_t i = 0; i < count; i++) {
        struct projection *p = random_projection(&r);
        projected_object(&r, &text);
        taken += agree(f->packer, buf_slice(&text), p, false);
        projection_unref(p);
    }
    assert_true(taken > count / 4);
    buf_clear(&text);
}

static void test_damaged_documents_are_never_taken_for_others(void **state)
{
    static const char bytes[] = "{}[]:,\"\\ \n0-.etfnu\x01x";
    struct fixture *f = *state;
    struct random r = random_start("damaged projected documents");
    struct buf text = {0};
    for (size_t i = 0; i < 8000; i++) {
        struct projection *p = random_projection(&r);
        projected_object(&r, &text);
        for (size_t damages = 1 + random_below(&r, 3); damages > 0; damages--)
            text.data[random_below(&r, (uint32_t)text.len)] = bytes[random_below(&r, sizeof bytes - 1)];
        agree(f->packer, buf_slice(&text), p, true);
        projection_unref(p);
    }
    buf_clear(&text);
}

/* --- single cases */

static void assert_matched(struct fixture *f, const char *json, const char *field, const char *expected)
{
    struct projection *p = projection_of(&field, 1, NULL, 0);
    struct root *root = matched_by(f->packer, str_of(json), p);
    if (expected) {
        assert_non_null(root);
        assert_string_equal(json_of(root_value(root)), expected);
    } else {
        assert_null(root);
    }
    root_unref(root);
    projection_unref(p);
}

static void test_what_is_dropped_is_stepped_over(void **state)
{
    struct fixture *f = *state;
    assert_matched(
        f, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"b\":\"c\"}},\"spec\":{\"n\":[1,{\"x\":{}}]}}",
        "metadata",
        "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\",\"labels\":{\"b\":\"c\"}}}");
    assert_matched(
        f, "{\"metadata\":{\"name\":\"a\",\"x\":1},\"c\":[{\"a\":\"x\",\"b\":1},{\"a\":\"y\",\"b\":2}]}",
        "c[?a=='y'].b",
        "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\"},\"c\":[{\"b\":2}]}");
}

static void test_what_it_leaves_to_the_tape(void **state)
{
    struct fixture *f = *state;
    assert_matched(f, "{\"metadata\":{\"name\":\"a\"},\"spec\":[1,2}}", "status", NULL);
    assert_matched(f, "{\"metadata\":{\"name\":\"a\"},\"spec\" {\"a\":1}}", "status", NULL);
    assert_matched(f, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"a\" 1}}", "spec.b", NULL);
    assert_matched(f, "{\"metadata\":{\"name\":\"\\u0061\"}}", "status", NULL);
    assert_matched(f, "{\"metadata\":{\"uid\":\"a\"}}", "status", NULL);
    assert_matched(f, "{\"metadata\":{\"name\":\"a\"},\"\\u0061\":1}", "status", NULL);
    assert_matched(f, "{}", "status", NULL);
    assert_matched(f, "[]", "status", NULL);
    assert_matched(f, "{\"metadata\":{\"name\":\"a\"},\"c\":[{\"\\u0061\":\"x\"}]}", "c[?a=='x']", NULL);
    assert_matched(f, "{\"metadata\":{\"name\":\"a\"},\"c\":[{\"a\":\"x\",\"a\":\"y\"}]}", "c[?a=='x']",
                   NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_documents_match_the_tape),
        TEST(test_damaged_documents_are_never_taken_for_others),
        TEST(test_what_is_dropped_is_stepped_over),
        TEST(test_what_it_leaves_to_the_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
