/* core/object/pack_tokens: the straight way gives what the tape gives, or nothing. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "object/pack/intern.h"
#include "object/pack/projection.h"

/* What both make of a text; whether the straight way was taken. */
static bool agree(struct packer *packer, struct str text)
{
    struct root *expected = by_tape(packer, text), *root = straight(packer, text);
    if (root) assert_ptr_equal(root, expected);
    root_unref(root);
    root_unref(expected);
    return root != NULL;
}

static void random_object(struct random *r, struct buf *text)
{
    struct buf unused = {0};
    text->len = 0;
    if (random_below(r, 2))
        buf_puts(text, "{\"kind\":\"Pod\",\"apiVersion\":\"v2\",\"metadata\":{\"name\":\"x\"},\"it\":");
    else
        buf_puts(text, "{\"metadata\":{\"name\":\"x\",\"labels\":{\"a\":\"b\"}},\"it\":");
    random_value(r, 5, text, &unused);
    buf_putc(text, '}');
    buf_clear(&unused);
}

static void test_random_documents_match_the_tape(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("straight documents");
    struct buf text = {0};
    struct root *alive[16] = {NULL};
    size_t taken = 0, count = 4000;
    for (size_t i = 0; i < count; i++) {
        random_object(&r, &text);
        taken += agree(f->packer, buf_slice(&text));
        uint32_t at = random_below(&r, 16); /* some stay, so that subtrees are known */
        root_unref(alive[at]);
        alive[at] = straight(f->packer, buf_slice(&text));
        agree(f->packer, buf_slice(&text));
    }
    for (size_t i = 0; i < 16; i++) root_unref(alive[i]);
    assert_true(taken > count / 4);
    buf_clear(&text);
}

static void test_damaged_documents_are_never_taken_for_others(void **state)
{
    static const char bytes[] = "{}[]:,\"\\ \n0-.etfnu\x01x";
    struct fixture *f = *state;
    struct random r = random_start("damaged documents");
    struct buf text = {0};
    for (size_t i = 0; i < 6000; i++) {
        random_object(&r, &text);
        struct root *whole = straight(f->packer, buf_slice(&text)); /* so that its parts are known */
        size_t damages = 1 + random_below(&r, 3);
        for (size_t k = 0; k < damages; k++)
            text.data[random_below(&r, (uint32_t)text.len)] = bytes[random_below(&r, sizeof bytes - 1)];
        agree(f->packer, buf_slice(&text));
        root_unref(whole);
    }
    buf_clear(&text);
}

/* A subtree of enough text to be remembered. */
#define LONG                                                                                          \
    "{\"alpha\":\"the first of many texts\",\"beta\":[\"one\",\"two\",\"three\",\"four\"],\"gamma\":" \
    "{\"delta\":12345,\"epsilon\":\"another text of some length\",\"zeta\":null}}"

static void test_a_subtree_is_known_by_its_text_while_its_node_lives(void **state)
{
    struct fixture *f = *state;
    static const char first[] = "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"it\":" LONG "}}";
    static const char second[] =
        "{\"metadata\":{\"name\":\"b\"},\"other\":{\"it\":" LONG "},\"more\":{\"again\":" LONG "}}";
    struct root *a = straight(f->packer, str_of(first));
    assert_int_equal(f->pool->subtrees.count, 1);
    assert_true(agree(f->packer, str_of(second)));
    struct root *b = straight(f->packer, str_of(second));
    assert_ptr_equal(at_path(root_value(a), "spec.it").at, at_path(root_value(b), "more.again").at);
    root_unref(a);
    assert_true(f->pool->subtrees.count > 0); /* the other one holds the node */
    root_unref(b);
    assert_int_equal(f->pool->subtrees.count, 0);
}

/* Known at one depth, it does not go beyond the limit at another. */
static void test_a_known_subtree_is_not_nested_too_deeply(void **state)
{
    struct fixture *f = *state;
    struct buf deep = {0}, text = {0};
    for (int i = 0; i < 60; i++) buf_puts(&deep, "[");
    buf_puts(&deep, LONG);
    for (int i = 0; i < 60; i++)
        buf_puts(&deep, ",\"a text so that each of them is a node of its own\",1,2,3,4,5,6,7,8,9,10,11,12]");
    buf_printf(&text, "{\"metadata\":{\"name\":\"a\"},\"it\":%s}", buf_text(&deep));
    struct root *known = straight(f->packer, buf_slice(&text));
    assert_non_null(known);
    text.len = 0;
    buf_puts(&text, "{\"metadata\":{\"name\":\"b\"},\"it\":");
    for (int i = 0; i < 60; i++) buf_puts(&text, "[");
    buf_puts(&text, buf_text(&deep));
    for (int i = 0; i < 60; i++) buf_puts(&text, "]");
    buf_putc(&text, '}');
    assert_null(straight(f->packer, buf_slice(&text)));
    assert_null(by_tape(f->packer, buf_slice(&text)));
    root_unref(known);
    buf_clear(&deep);
    buf_clear(&text);
}

static void test_what_it_leaves_to_the_tape(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {
        "{\"spec\":1,\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}", /* type behind other fields */
        "{\"metadata\":{\"name\":\"a\"},\"metadata\":{\"name\":\"b\"}}",
        "{\"metadata\":{\"name\":\"\\u0061\"}}",
        "{\"metadata\":{\"name\":\"a\\n\"}}", /* no name of an object, but a text */
        "{\"metadata\":{\"name\":\"a\"},\"\\u006detadata\":{\"name\":\"b\"}}",
        "{\"metadata\":{\"name\":\"a\"},\"k\\u0069nd\":\"Other\"}",
        "{\"metadata\":{\"name\":\"a\"},\"n\":12345678901234567890}",
        "{\"metadata\":{\"name\":\"a\"},\"n\":-0}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_null(straight(f->packer, str_of(texts[i])));
        struct root *root = by_tape(f->packer, str_of(texts[i]));
        assert_non_null(root);
        root_unref(root);
    }
}

/* An escape, at any place of a text of any length, is what the tape takes it for, or left to it. */
static void test_escapes_match_the_tape(void **state)
{
    static const struct {
        const char *escape;
        bool straight;
    } escapes[] = {{"\\u0026", true},        {"\\u0000", true},        {"\\u00e9", true},
                   {"\\ud83d\\ude80", true}, {"\\uFFFF", true},        {"\\\\u0026", true},
                   {"\\ud83d", false},       {"\\ude80", false},       {"\\ud83d\\ud83d", false},
                   {"\\ud83d\\n", false},    {"\\ud83dxxxxxx", false}, {"\\u12", false}};
    struct fixture *f = *state;
    struct buf text = {0};
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        for (int at = 0; at < 20; at++) {
            text.len = 0;
            buf_puts(&text, "{\"metadata\":{\"name\":\"a\"},\"it\":{\"a\":\"");
            for (int k = 0; k < at; k++) buf_putc(&text, (char)('a' + k));
            buf_printf(&text, "%s\",\"a%s%d\":[\"the end%s%s\"]}}", escapes[i].escape, escapes[i].escape, at,
                       escapes[i].escape, escapes[i].escape);
            assert_int_equal(agree(f->packer, buf_slice(&text)), escapes[i].straight);
        }
    }
    buf_clear(&text);
}

static void test_a_long_string_with_escapes_goes_straight(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    buf_puts(&text, "{\"metadata\":{\"name\":\"a\"},\"data\":\"");
    while (text.len < 1 << 20) buf_puts(&text, "a line\\n\\twith \\u003ctags\\u003e");
    buf_puts(&text, "\"}");
    assert_true(agree(f->packer, buf_slice(&text)));
    buf_clear(&text);
}

static void test_it_uses_the_type_of_the_text(void **state)
{
    struct fixture *f = *state;
    struct pack_type always = {.api_version = STR("v1"), .kind = STR("Pod"), .always = true};
    struct pack_own_type said;
    struct root *root;
    char *p = padded(STR("{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/"
                         "v1\",\"metadata\":{\"name\":\"a\"}}"));
    struct pack_mark mark = pack_mark(str_of(p), &always);
    assert_true(pack_tokens(f->packer, str_of(p), &always, &mark, &said, &root));
    assert_true(str_is(said.kind, "PartialObjectMetadata") && str_is(said.api_version, "meta.k8s.io/v1"));
    assert_string_equal(json_of(root_value(root)),
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}");
    root_unref(root);
    free(p);
}

/* A server may send metadata alone, or whole objects. */
static void test_metadata_go_straight_when_nothing_else_is_wanted(void **state)
{
    struct fixture *f = *state;
    static const char *const field = "metadata";
    struct pack_type wanted = {.api_version = STR("v1"), .kind = STR("Pod"), .always = true};
    wanted.projection =
        projection_new((struct projection_paths){&field, 1}, (struct projection_paths){0}, NULL);
    char *alone = padded(STR("{\"metadata\":{\"name\":\"a\",\"labels\":{\"b\":\"c\"}}}")),
         *whole = padded(STR("{\"metadata\":{\"name\":\"a\",\"labels\":{\"b\":\"c\"}},\"spec\":{\"n\":1}}"));
    struct pack_mark mark = pack_mark(str_of(alone), &wanted);
    struct root *straight_root, *root;
    struct err err;
    assert_true(pack_tokens(f->packer, str_of(alone), &wanted, &mark, NULL, &straight_root));
    assert_true(pack_tokens(f->packer, str_of(whole), &wanted, &mark, NULL, &root));
    assert_ptr_equal(root, straight_root);
    root_unref(root);
    assert_true(pack_text(f->packer, whole, strlen(whole), &wanted, &root, &err));
    assert_ptr_equal(root, straight_root);
    root_unref(root);
    root_unref(straight_root);
    projection_unref((struct projection *)wanted.projection);
    free(alone);
    free(whole);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_documents_match_the_tape),
        TEST(test_damaged_documents_are_never_taken_for_others),
        TEST(test_a_subtree_is_known_by_its_text_while_its_node_lives),
        TEST(test_a_known_subtree_is_not_nested_too_deeply),
        TEST(test_what_it_leaves_to_the_tape),
        TEST(test_escapes_match_the_tape),
        TEST(test_a_long_string_with_escapes_goes_straight),
        TEST(test_it_uses_the_type_of_the_text),
        TEST(test_metadata_go_straight_when_nothing_else_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
