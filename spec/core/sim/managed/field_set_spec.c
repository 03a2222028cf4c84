/* core/sim/managed/field_set.c: sets of fields, and their order as text. */
#include <stdlib.h>
#include <string.h>

#include "core/sim/support/kube.h"
#include "sim/managed/field_set.h"

static json_t *all_read; /* sets borrow names from it */

static struct sim_field_set set_of(const char *text)
{
    struct sim_field_set set = {0};
    json_t *fields = js(text);
    json_array_append_new(all_read, fields);
    assert_true(sim_field_set_read(&set, fields));
    return set;
}

static int set_up(void **state)
{
    all_read = json_array();
    return 0;
}

static int tear_down(void **state)
{
    json_decref(all_read);
    return 0;
}

/* Takes the set. */
static void assert_set(struct sim_field_set set, const char *expected)
{
    json_t *wanted = js(expected), *is = sim_field_set_json(&set);
    char *a = json_dumps(is, JSON_COMPACT), *b = json_dumps(wanted, JSON_COMPACT);
    assert_string_equal(a, b);
    free(a);
    free(b);
    json_decref(is);
    json_decref(wanted);
    sim_field_set_clear(&set);
}

static void test_it_is_written_in_the_order_of_the_server(void **state)
{
    assert_set(
        set_of(
            "{'v:2':{},'k:{\\'b\\':1,\\'a\\':\\'x\\'}':{'f:z':{},'.':{}},'v:10':{},'v:\\'1\\'':{},'i:1':{},"
            "'f:b':{'f:a':{}},'f:a':{},'k:{\\'a\\':\\'w\\'}':{},'v:true':{},'x:y':{}}"),
        "{'f:a':{},'f:b':{'f:a':{}},'k:{\\'a\\':\\'w\\'}':{},'k:{\\'a\\':\\'x\\',\\'b\\':1}':{'.':{},'f:z':{}"
        "},"
        "'v:2':{},'v:10':{},'v:\\'1\\'':{},'v:true':{},'i:1':{}}");
}

static void test_what_is_no_set_is_refused(void **state)
{
    static const char *const wrong[] = {"[]", "'a'", "{'f:a':[]}", "{'f:a':{'f:b':1}}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sim_field_set set = {0};
        json_t *fields = js(wrong[i]);
        assert_false(sim_field_set_read(&set, fields));
        sim_field_set_clear(&set);
        json_decref(fields);
    }
    struct sim_field_set set = {0};
    json_t *deep = json_object();
    for (int i = 0; i < 1000; i++) deep = json_pack("{so}", "f:a", deep);
    assert_false(sim_field_set_read(&set, deep));
    sim_field_set_clear(&set);
    json_decref(deep);
}

static void test_sets_are_united_and_subtracted(void **state)
{
    struct sim_field_set a = set_of("{'f:a':{'.':{},'f:x':{}},'f:b':{}}"),
                         b = set_of("{'f:a':{'f:y':{}},'f:c':{}}");
    struct sim_field_set both = sim_field_set_copy(&a);
    sim_field_set_unite(&both, &b);
    struct sim_field_set rest = sim_field_set_copy(&both);
    assert_set(both, "{'f:a':{'.':{},'f:x':{},'f:y':{}},'f:b':{},'f:c':{}}");
    assert_false(sim_field_set_equal(&rest, &a));
    sim_field_set_subtract(&rest, &b);
    assert_true(sim_field_set_equal(&rest, &a));
    sim_field_set_clear(&rest);
    sim_field_set_clear(&a);
    sim_field_set_clear(&b);
}

static void test_a_parent_and_what_is_below_it_are_apart(void **state)
{
    struct sim_field_set a = set_of("{'f:a':{'.':{},'f:x':{}}}"), parent = set_of("{'f:a':{}}");
    struct sim_field_set trees = sim_field_set_copy(&a), common = sim_field_set_copy(&a);
    sim_field_set_subtract(&a, &parent);
    assert_set(a, "{'f:a':{'f:x':{}}}");
    sim_field_set_intersect(&common, &parent);
    assert_set(common, "{'f:a':{}}");
    sim_field_set_subtract_trees(&trees, &parent);
    assert_true(sim_field_set_empty(&trees));
    assert_int_equal(trees.count, 0);
    sim_field_set_clear(&parent);
}

static void note(void *ctx, const struct sim_path *path)
{
    buf_putc(ctx, ' ');
    sim_path_show(ctx, path);
}

static void test_members_are_called_by_levels(void **state)
{
    struct sim_field_set set =
        set_of("{'f:a':{'k:{\\'n\\':\\'x\\',\\'p\\':1}':{'.':{},'f:y':{}}},'f:b':{'v:1':{}},'f:c':{}}");
    struct buf text = {0};
    sim_field_set_each(&set, note, &text);
    assert_string_equal(buf_text(&text), " .c .a[n=\"x\",p=1] .a[n=\"x\",p=1].y .b[=1]");
    buf_clear(&text);
    sim_field_set_clear(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_written_in_the_order_of_the_server),
        cmocka_unit_test(test_what_is_no_set_is_refused),
        cmocka_unit_test(test_sets_are_united_and_subtracted),
        cmocka_unit_test(test_a_parent_and_what_is_below_it_are_apart),
        cmocka_unit_test(test_members_are_called_by_levels),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
