/* core/audit/found/table.c: what an audit found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "core/audit/support/fixture.h"

static size_t count_rows(const struct audit_table *table, enum verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < audit_table_count_rows(table); i++)
        count += audit_table_row(table, i)->verdict == verdict;
    return count;
}

static void test_passes_have_rows_where_they_are_wanted(void **state)
{
    for (int keep = 0; keep < 2; keep++) {
        struct audit_table *table = fixture_table(keep);
        assert_int_equal(count_rows(table, VERDICT_PASS), keep ? 2 : 0);
        assert_int_equal(count_rows(table, VERDICT_FAIL), 3);
        assert_int_equal(audit_table_totals(table).verdicts[VERDICT_PASS], 2);
        audit_table_free(table);
    }
}

/* A rule that says of one container that it is fine, and of another that it is not, has no pass to tell of.
 */
static void test_a_pass_that_is_reported_beside_a_failure_is_no_row(void **state)
{
    struct audit_table *table = audit_table_new(true);
    const struct audit_rule rule = {
        .id = "one", .title = "", .category = "", .why = "", .how = "", .file = ""};
    const struct audit_object object = {.kind = STR("Pod"), .name = STR("web")};
    audit_table_add_rule(table, &rule);
    audit_table_begin_object(table, &object);
    audit_table_add(table, &(const struct audit_row){.verdict = VERDICT_PASS});
    audit_table_add(table, &(const struct audit_row){.verdict = VERDICT_FAIL});
    audit_table_count(table, 0, VERDICT_FAIL);
    assert_int_equal(audit_table_count_rows(table), 1);
    audit_table_free(table);
}

/* Rules that pass over what others own do so for most pods of a cluster. */
static void test_a_skip_without_a_reason_is_counted_alone(void **state)
{
    for (int keep = 0; keep < 2; keep++) {
        struct audit_table *table = audit_table_new(keep);
        const struct audit_rule rule = {
            .id = "one", .title = "", .category = "", .why = "", .how = "", .file = ""};
        const struct audit_object object = {.kind = STR("Pod"), .name = STR("web")};
        audit_table_add_rule(table, &rule);
        audit_table_begin_object(table, &object);
        audit_table_add(table, &(const struct audit_row){.verdict = VERDICT_SKIP});
        audit_table_add(table, &(const struct audit_row){.verdict = VERDICT_SKIP, .message = STR("why")});
        audit_table_count(table, 0, VERDICT_SKIP);
        assert_int_equal(count_rows(table, VERDICT_SKIP), keep ? 2 : 1);
        assert_int_equal(audit_table_totals(table).verdicts[VERDICT_SKIP], 1);
        audit_table_free(table);
    }
}

static void test_rows_stand_by_severity_and_then_by_object(void **state)
{
    static const char *const expected[] = {"privileged </script>\033[2J",
                                           "privileged web-1",
                                           "image-tag </script>\033[2J",
                                           "image-tag web-1",
                                           "image-tag web-1",
                                           "broken web-1",
                                           "quiet node-1",
                                           "quiet </script>\033[2J"};
    struct audit_table *table = fixture_table(false);
    assert_int_equal(audit_table_count_rows(table), 8);
    for (size_t i = 0; i < 8; i++) {
        const struct audit_row *row = audit_table_row(table, i);
        struct buf text = {0};
        buf_printf(&text, "%s %.*s", audit_table_rule(table, row->rule)->id,
                   STR_ARG(audit_table_object(table, row->object)->name));
        assert_string_equal(buf_text(&text), expected[i]);
        buf_clear(&text);
    }
    audit_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_have_rows_where_they_are_wanted),
        cmocka_unit_test(test_a_skip_without_a_reason_is_counted_alone),
        cmocka_unit_test(test_a_pass_that_is_reported_beside_a_failure_is_no_row),
        cmocka_unit_test(test_rows_stand_by_severity_and_then_by_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
