/* core/app/plan/plan_match.c and plan_rows.c: which file stands for which script, and what is said of the
 * pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "app/plan/plan_match.h"
#include "base/mem.h"

static const struct inventory none = {0};

static struct plan_script script(const char *name, const char *path, const char *sources)
{
    return (struct plan_script){
        .name = name, .path = path, .sources = sources, .plan = &none, .generation = 3};
}

static struct plan_script file(const char *name, const char *path, const char *sources, bool in_folder)
{
    return (struct plan_script){
        .name = name, .path = path, .sources = sources, .plan = &none, .in_folder = in_folder};
}

static void assert_row(const struct plan_rows *rows, size_t i, enum plan_action fate, const char *name)
{
    assert_true(i < rows->count);
    assert_string_equal(rows->items[i].name, name);
    assert_int_equal(rows->items[i].fate, fate);
}

static void test_the_whole_name_comes_before_the_last_part(void **state)
{
    struct plan_rows rows = {0};
    struct plan_script running[] = {script("x/a", "x/a.lua", "1"), script("y/a", "y/a.lua", "2")};
    struct plan_script files[] = {file("z/a", "z/a.lua", "1", false), file("y/a", "y/a.lua", "2", false)};
    plan_match(running, ARRAY_LEN(running), files, ARRAY_LEN(files), &rows);
    assert_int_equal(rows.count, 2);
    assert_row(&rows, 0, PLAN_UNCHANGED, "x/a"); /* the one that is left of that last part */
    assert_row(&rows, 1, PLAN_UNCHANGED, "y/a");
    plan_rows_clear(&rows);
}

static void test_a_last_part_that_several_have_stands_for_none(void **state)
{
    struct plan_rows rows = {0};
    struct plan_script running[] = {script("x/a", "x/a.lua", "1"), script("y/a", "y/a.lua", "1")};
    struct plan_script files[] = {file("z/a", "z/a.lua", "1", false)};
    plan_match(running, ARRAY_LEN(running), files, ARRAY_LEN(files), &rows);
    assert_int_equal(rows.count, 1);
    assert_row(&rows, 0, PLAN_START, "z/a");
    plan_rows_clear(&rows);
}

static void test_only_a_folder_says_what_goes(void **state)
{
    struct plan_rows rows = {0};
    struct plan_script running[] = {script("etc/a", "etc/a.lua", "1"), script("etc/b", "etc/b.lua", "1"),
                                    script("other/c", "other/c.lua", "1")};
    struct plan_script alone[] = {file("a", "a.lua", "2", false)};
    plan_match(running, ARRAY_LEN(running), alone, ARRAY_LEN(alone), &rows);
    assert_int_equal(rows.count, 1);
    assert_row(&rows, 0, PLAN_RELOAD_ONLY, "etc/a");
    plan_rows_clear(&rows);
    for (size_t i = 0; i < ARRAY_LEN(running); i++) running[i].other = NULL;
    struct plan_script folder[] = {file("new/a", "new/a.lua", "1", true)};
    plan_match(running, ARRAY_LEN(running), folder, ARRAY_LEN(folder), &rows);
    assert_int_equal(rows.count, 2);
    assert_row(&rows, 0, PLAN_UNCHANGED, "etc/a");
    assert_row(&rows, 1, PLAN_STOP, "etc/b"); /* it lies beside a, and other/c does not */
    plan_rows_clear(&rows);
}

static void test_differences_and_counts_are_told(void **state)
{
    struct inventory before = {0}, after = {0};
    struct plan_rows rows = {0};
    struct buf out = {0};
    inventory_add(&before, INVENTORY_COMMAND, STR("old\x1b[2J"), STR("{}"));
    inventory_add(&before, INVENTORY_MAIN, STR("k8s.main"), STR("x"));
    inventory_add(&after, INVENTORY_MAIN, STR("k8s.main"), STR("x"));
    inventory_add(&after, INVENTORY_INFORMER, STR("nodes"), STR("{}"));
    inventory_set_place(&after, INVENTORY_INFORMER, STR("nodes"), "a.lua", 4);
    inventory_add(&before, INVENTORY_STATE, STR("seen"), STR("{}"));
    inventory_add(&after, INVENTORY_STATE, STR("seen"), STR("{version=2}"));
    struct plan_script running[] = {script("a", "a.lua", "1")};
    struct plan_script files[] = {file("a", "a.lua", "2", false), file("b", "b.lua", NULL, false)};
    running[0].plan = &before;
    files[0].plan = &after;
    files[1].plan = NULL;
    files[1].error = "b.lua:1: no";
    plan_match(running, ARRAY_LEN(running), files, ARRAY_LEN(files), &rows);
    plan_rows_print(&rows, &out);
    assert_null(memchr(out.data, '\x1b', out.len));
    assert_non_null(strstr(buf_text(&out), "a: changes, generation 3 runs\n  + informer nodes (a.lua:4)\n"
                                           "      starts a list and watch, "));
    assert_non_null(strstr(buf_text(&out), "  - command old"));
    assert_non_null(strstr(buf_text(&out), "  ~ state seen: version=2 added\n"));
    assert_non_null(strstr(buf_text(&out), "  1 unchanged\nb: refused: b.lua:1: no\n"
                                           "2 scripts: 1 to be refused, 1 to change\n"));
    out.len = 0;
    plan_rows_print_json(&rows, &out);
    assert_non_null(strstr(buf_text(&out), "\"changed\":1,"));
    assert_non_null(strstr(buf_text(&out), "\"after\":\"{}\",\"file\":\"a.lua\",\"line\":4"));
    assert_non_null(
        strstr(buf_text(&out), "{\"name\":\"b\",\"result\":\"refused\",\"error\":\"b.lua:1: no\"}"));
    buf_clear(&out);
    plan_rows_clear(&rows);
    inventory_clear(&before);
    inventory_clear(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_whole_name_comes_before_the_last_part),
        cmocka_unit_test(test_a_last_part_that_several_have_stands_for_none),
        cmocka_unit_test(test_only_a_folder_says_what_goes),
        cmocka_unit_test(test_differences_and_counts_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
