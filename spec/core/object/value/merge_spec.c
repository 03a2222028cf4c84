/* core/object/merge: merge patches, applied and found. */
#include "core/object/support/objects.h"

#include "base/mem.h"
#include "object/value/merge.h"

static struct buf merged(struct value target, struct value patch)
{
    struct buf out = {0};
    merge_write(&out, target, patch);
    return out;
}

/* The examples of RFC 7386, appendix A, and some more. */
static void test_what_a_patch_makes(void **state)
{
    static const char *const cases[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"a\":\"foo\"}", "null", "null"},
        {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
        {"{}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}"},
        {"{\"a\":{\"b\":{\"c\":1,\"d\":2}},\"e\":3}", "{\"a\":{\"b\":{\"c\":9}}}",
         "{\"a\":{\"b\":{\"c\":9,\"d\":2}},\"e\":3}"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value target, patch;
        struct root *a = pack_it(f->packer, cases[i][0], &target);
        struct root *b = pack_it(f->packer, cases[i][1], &patch);
        struct buf out = merged(target, patch);
        assert_string_equal(buf_text(&out), cases[i][2]);
        buf_clear(&out);
        root_unref(a);
        root_unref(b);
    }
}

static void test_what_an_absent_target_becomes(void **state)
{
    struct fixture *f = *state;
    struct value patch;
    struct root *root = pack_it(f->packer, "{\"a\":null,\"b\":{\"c\":null,\"d\":1}}", &patch);
    struct buf out = merged(value_absent, patch);
    assert_string_equal(buf_text(&out), "{\"b\":{\"d\":1}}");
    buf_clear(&out);
    root_unref(root);
}

static void test_the_patch_between_two_values(void **state)
{
    static const char *const cases[][3] = {
        {"{\"a\":1}", "{\"a\":1}", ""},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", ""},
        {"{\"a\":1}", "{\"a\":2}", "{\"a\":2}"},
        {"{\"a\":1}", "{}", "{\"a\":null}"},
        {"{}", "{\"a\":{}}", "{\"a\":{}}"},
        {"{\"a\":{\"b\":1}}", "{\"a\":{}}", "{\"a\":{\"b\":null}}"},
        {"{\"a\":{\"b\":1,\"c\":[1,2]},\"d\":0}", "{\"a\":{\"b\":1,\"c\":[1,3]},\"d\":0}",
         "{\"a\":{\"c\":[1,3]}}"},
        {"{\"z\":1,\"a\":{\"b\":1}}", "{\"a\":\"b\",\"new\":[null]}",
         "{\"z\":null,\"a\":\"b\",\"new\":[null]}"},
        {"{\"a\":null}", "{}", "{\"a\":null}"},
        {"{\"a\":null,\"b\":1}", "{\"a\":null,\"b\":2}", "{\"b\":2}"},
        {"{}", "{\"a\":null}", ""},
        {"{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1,\"c\":null}}", ""},
        {"{\"a\":1}", "{\"a\":1.0}", "{\"a\":1.0}"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct value from, to;
        struct root *a = pack_it(f->packer, cases[i][0], &from), *b = pack_it(f->packer, cases[i][1], &to);
        struct buf out = {0};
        assert_int_equal(merge_diff(&out, from, to), cases[i][2][0] != '\0');
        assert_string_equal(buf_text(&out), cases[i][2]);
        buf_clear(&out);
        root_unref(a);
        root_unref(b);
    }
}

/* --- at random */

static struct root *random_it(struct fixture *f, struct random *r, struct value *it)
{
    struct buf text = {0}, expected = {0};
    random_value(r, 4, &text, &expected);
    struct root *root = pack_it(f->packer, buf_text(&text), it);
    buf_clear(&text);
    buf_clear(&expected);
    return root;
}

/* What a patch makes: of nothing it has no nulls in its maps. */
static struct root *pack_merged(struct fixture *f, struct value target, struct value patch, struct value *it)
{
    struct buf out = merged(target, patch);
    struct root *root = pack_it(f->packer, buf_text(&out), it);
    buf_clear(&out);
    return root;
}

static void assert_way_there(struct fixture *f, struct value from, struct value to)
{
    struct buf diff = {0};
    struct value patch, end;
    if (!merge_diff(&diff, from, to)) {
        assert_true(value_equal(from, to));
        assert_int_equal(diff.len, 0);
        return;
    }
    struct root *packed = pack_it(f->packer, buf_text(&diff), &patch);
    struct root *root = pack_merged(f, from, patch, &end);
    if (!value_equal(end, to)) fail_msg("%s makes %s, not %s", buf_text(&diff), json_of(end), json_of(to));
    root_unref(packed);
    root_unref(root);
    buf_clear(&diff);
}

static void test_the_patch_between_any_two_values_leads_there(void **state)
{
    struct fixture *f = *state;
    struct random r = random_start("merge");
    for (int i = 0; i < 3000; i++) {
        struct value from, change, to, near;
        struct root *a = random_it(f, &r, &from), *b = random_it(f, &r, &change);
        struct root *c = pack_merged(f, value_absent, change, &to);
        assert_way_there(f, from, to);
        if (value_type(from) == VALUE_MAP && value_type(change) == VALUE_MAP) {
            struct root *clean = pack_merged(f, value_absent, from, &from);
            struct root *d = pack_merged(f, from, change, &near);
            assert_way_there(f, from, near);
            assert_way_there(f, near, from);
            root_unref(d);
            root_unref(clean);
        }
        root_unref(a);
        root_unref(b);
        root_unref(c);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_what_a_patch_makes),
        TEST(test_what_an_absent_target_becomes),
        TEST(test_the_patch_between_two_values),
        TEST(test_the_patch_between_any_two_values_leads_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
