/* core/audit/stream_*.c: a table goes from one process to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "audit/stream.h"
#include "core/audit/support/fixture.h"

static struct buf told;

static void tell(void *ctx, struct str text)
{
    buf_str(&told, text);
    buf_putc(&told, ';');
}

static struct audit_stream *open_stream(struct audit_table *table)
{
    return audit_stream_new(
        &(const struct audit_stream_sink){.table = table, .print = tell, .trouble = tell});
}

/* All that there may be. */
static struct buf written(bool keep_passes)
{
    struct buf out = {0};
    struct audit_table *table = fixture_unsorted(keep_passes);
    audit_stream_put_rules(&out, table);
    audit_stream_put_found(&out, table);
    audit_stream_put_print(&out, STR("a line"));
    audit_stream_put_trouble(&out, STR("secrets: no cache"));
    audit_stream_put_end(&out);
    audit_table_free(table);
    return out;
}

static void test_a_table_is_the_same_at_the_other_end(void **state)
{
    for (int keep = 0; keep < 2; keep++) {
        struct audit_table *from = fixture_unsorted(keep), *to = audit_table_new(keep);
        struct audit_stream *stream = open_stream(to);
        struct buf bytes = written(keep);
        struct err err;
        told.len = 0;
        for (size_t i = 0; i < bytes.len; i++)
            assert_true(audit_stream_take(stream, (struct str){bytes.data + i, 1}, &err));
        assert_true(audit_stream_is_whole(stream));
        assert_string_equal(buf_text(&told), "a line;secrets: no cache;");
        for (size_t i = 0; i < audit_table_count_rows(from); i++) {
            const struct audit_row *a = audit_table_row(from, i), *b = audit_table_row(to, i);
            const struct audit_object *of_a = audit_table_object(from, a->object),
                                      *of_b = audit_table_object(to, b->object);
            assert_int_equal(a->rule, b->rule);
            assert_int_equal(a->verdict, b->verdict);
            assert_int_equal(a->accepted, b->accepted);
            assert_true(str_eq(a->message, b->message) && str_eq(a->path, b->path));
            assert_true(str_eq(a->place, b->place));
            assert_true(str_eq(a->value, b->value) && str_eq(a->fix, b->fix));
            assert_true(str_eq(of_a->name, of_b->name) && str_eq(of_a->ns, of_b->ns));
            assert_true(str_eq(of_a->kind, of_b->kind) && str_eq(of_a->uid, of_b->uid));
        }
        struct audit_totals a = audit_table_totals(from), b = audit_table_totals(to);
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(audit_table_count_rows(from), audit_table_count_rows(to));
        assert_string_equal(audit_table_rule(from, 1)->title, audit_table_rule(to, 1)->title);
        audit_stream_free(stream);
        audit_table_free(from);
        audit_table_free(to);
        buf_clear(&bytes);
    }
}

static void test_two_streams_add_to_one_table(void **state)
{
    struct audit_table *to = audit_table_new(false);
    struct buf bytes = written(false);
    struct err err;
    for (int i = 0; i < 2; i++) {
        struct audit_stream *stream = open_stream(to);
        assert_false(audit_stream_has_begun(stream));
        assert_true(audit_stream_take(stream, buf_slice(&bytes), &err));
        assert_true(audit_stream_has_begun(stream) && audit_stream_is_whole(stream));
        audit_stream_free(stream);
    }
    struct audit_table *one = fixture_unsorted(false);
    assert_int_equal(audit_table_rule_count(to), audit_table_rule_count(one));
    assert_int_equal(audit_table_count_rows(to), 2 * audit_table_count_rows(one));
    assert_int_equal(audit_table_totals(to).looked_at, 2 * audit_table_totals(one).looked_at);
    assert_int_equal(audit_table_totals(to).evaluated, 2 * audit_table_totals(one).evaluated);
    audit_table_free(one);
    audit_table_free(to);
    buf_clear(&bytes);
}

static void test_a_stream_that_is_cut_off_is_not_whole(void **state)
{
    struct buf bytes = written(true);
    for (size_t n = 0; n < bytes.len; n++) {
        struct audit_table *to = audit_table_new(true);
        struct audit_stream *stream = open_stream(to);
        struct err err;
        assert_true(audit_stream_take(stream, (struct str){bytes.data, n}, &err));
        assert_false(audit_stream_is_whole(stream));
        audit_stream_free(stream);
        audit_table_free(to);
    }
    buf_clear(&bytes);
}

/* Whatever is in it, it is refused or taken; under ASan that is seen. */
static void test_any_byte_may_be_wrong(void **state)
{
    struct buf bytes = written(true);
    size_t refused = 0;
    for (size_t i = 0; i < bytes.len; i++)
        for (int with = 1; with < 256; with += 42) {
            struct audit_table *to = audit_table_new(true);
            struct audit_stream *stream = open_stream(to);
            struct err err;
            bytes.data[i] = (char)(bytes.data[i] ^ with);
            refused += !audit_stream_take(stream, buf_slice(&bytes), &err);
            bytes.data[i] = (char)(bytes.data[i] ^ with);
            audit_stream_free(stream);
            audit_table_free(to);
        }
    assert_true(refused > 100);
    buf_clear(&bytes);
}

static void test_what_was_told_is_forgotten_but_for_the_rules(void **state)
{
    struct audit_table *table = fixture_unsorted(true);
    size_t rules = audit_table_rule_count(table);
    audit_table_forget(table);
    struct audit_totals totals = audit_table_totals(table);
    assert_int_equal(audit_table_count_rows(table) + totals.looked_at + totals.evaluated, 0);
    assert_int_equal(totals.verdicts[VERDICT_FAIL], 0);
    assert_int_equal(audit_table_rule_count(table), rules);
    assert_true(audit_table_rule(table, 0)->title[0] != '\0');
    audit_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_is_the_same_at_the_other_end),
        cmocka_unit_test(test_two_streams_add_to_one_table),
        cmocka_unit_test(test_a_stream_that_is_cut_off_is_not_whole),
        cmocka_unit_test(test_any_byte_may_be_wrong),
        cmocka_unit_test(test_what_was_told_is_forgotten_but_for_the_rules),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    buf_clear(&told);
    return failed;
}
