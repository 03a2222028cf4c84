/* core/object/diff: what differs, path by path. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/diff.h"

struct report {
    struct buf text;
    int stop_after;
};

static bool report(void *ctx, struct str path, struct value a, struct value b)
{
    struct report *r = ctx;
    buf_printf(&r->text, "%s%.*s ", r->text.len ? "; " : "", STR_ARG(path));
    if (value_type(a) == VALUE_ABSENT) {
        buf_puts(&r->text, "-");
    } else {
        json_write(&r->text, a);
    }
    buf_putc(&r->text, ' ');
    if (value_type(b) == VALUE_ABSENT) {
        buf_puts(&r->text, "-");
    } else {
        json_write(&r->text, b);
    }
    return --r->stop_after != 0;
}

static bool flagged;

static bool report_and_flag(void *ctx, struct str path, struct value a, struct value b)
{
    flagged = true;
    return report(ctx, path, a, b);
}

static void test_it_ends_early_when_it_is_to_stop(void **state)
{
    struct fixture *f = *state;
    struct value va, vb;
    struct root *ra = pack_it(f->packer, "{\"a\":1,\"b\":{\"c\":1}}", &va);
    struct root *rb = pack_it(f->packer, "{\"a\":2,\"b\":{\"c\":2}}", &vb);
    struct report r = {.stop_after = -1};
    flagged = false;
    value_diff(va, vb, &flagged, report_and_flag, &r);
    assert_string_equal(buf_text(&r.text), "a 1 2");
    buf_clear(&r.text);
    root_unref(ra);
    root_unref(rb);
}

static void assert_diff(void **state, const char *a, const char *b, int stop_after, const char *expected)
{
    struct fixture *f = *state;
    struct value va, vb;
    struct root *ra = pack_it(f->packer, a, &va), *rb = pack_it(f->packer, b, &vb);
    struct report r = {.stop_after = stop_after};
    value_diff(va, vb, NULL, report, &r);
    assert_string_equal(buf_text(&r.text), expected);
    buf_clear(&r.text);
    root_unref(ra);
    root_unref(rb);
}

static void test_differences(void **state)
{
    static const char *const cases[][3] = {
        {"{\"a\":1}", "{\"a\":1}", ""},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", ""},
        {"{\"a\":1}", "{\"a\":2}", "a 1 2"},
        {"{\"a\":1}", "{}", "a 1 -"},
        {"{}", "{\"a\":1}", "a - 1"},
        {"{\"a\":null}", "{}", "a null -"},
        {"{\"z\":1,\"a\":2,\"m\":3}", "{\"new\":0,\"a\":3,\"z\":2}", "z 1 2; a 2 3; m 3 -; new - 0"},
        {"{\"s\":{\"c\":[{\"i\":\"x:1\"},{\"i\":\"y:1\"}]}}",
         "{\"s\":{\"c\":[{\"i\":\"x:2\"},{\"i\":\"y:1\"},7]}}", "s.c[0].i \"x:1\" \"x:2\"; s.c[2] - 7"},
        {"[1,2,3]", "[1]", "[1] 2 -; [2] 3 -"},
        {"{\"a\":[1]}", "{\"a\":{\"b\":1}}", "a [1] {\"b\":1}"},
        {"{\"a\":\"1\"}", "{\"a\":1}", "a \"1\" 1"},
        {"{\"l\":{\"app.kubernetes.io/name\":\"a\",\"it's\":\"b\",\"back\\\\slash\":\"c\"}}", "{\"l\":{}}",
         "l['app.kubernetes.io/name'] \"a\" -; l['it\\'s'] \"b\" -; l['back\\\\slash'] \"c\" -"},
        {"{\"k:{x}\":{\"a\":1},\"b\":1}", "{\"b\":2,\"k:{x}\":{\"a\":2}}", "k:{x}.a 1 2; b 1 2"},
        {"5", "6", " 5 6"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_diff(state, cases[i][0], cases[i][1], -1, cases[i][2]);
}

static void test_it_can_be_stopped(void **state)
{
    assert_diff(state, "{\"a\":{\"b\":[1,2]},\"c\":3}", "{\"a\":{\"b\":[2,3]},\"c\":4}", 1, "a.b[0] 1 2");
    assert_diff(state, "{\"a\":1}", "{\"b\":1,\"c\":2}", 2, "a 1 -; b - 1");
}

static bool paths_lead_there(void *ctx, struct str path, struct value a, struct value b)
{
    struct value *sides = ctx;
    char *text = xstrndup(path.p, path.n);
    assert_true(value_equal(at_path(sides[0], text), a));
    assert_true(value_equal(at_path(sides[1], text), b));
    free(text);
    return true;
}

static void test_every_path_leads_to_what_it_names(void **state)
{
    struct fixture *f = *state;
    struct value sides[2];
    struct root *a =
        pack_it(f->packer, "{\"x\":[{\"a.b\":{\"c'd\":1,\"\":2}}],\"y z\":{\"[0]\":\"*\"},\"gone\":[[[1]]]}",
                &sides[0]);
    struct root *b = pack_it(
        f->packer, "{\"x\":[{\"a.b\":{\"c'd\":2,\"\":3}},null],\"y z\":{\"[0]\":\"?\"},\"gone\":[[[]]]}",
        &sides[1]);
    value_diff(sides[0], sides[1], NULL, paths_lead_there, sides);
    root_unref(a);
    root_unref(b);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_differences),
        TEST(test_it_can_be_stopped),
        TEST(test_it_ends_early_when_it_is_to_stop),
        TEST(test_every_path_leads_to_what_it_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
