/* core/audit/stream_*.c: a table goes from one process to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "audit/found/stream.h"
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
        &(const struct audit_stream_sink){.table = table, .print = tell, .problem = tell});
}

/* All that there may be. */
static struct buf written(bool keep_passes)
{
    struct buf out = {0};
    struct audit_table *table = fixture_unsorted(keep_passes);
    struct err err;
    assert_true(audit_stream_put_rules(&out, table, &err));
    audit_table_leave_out(table, 2, STR("no cache of what it uses"));
    audit_stream_put_total(&out, 7);
    audit_stream_put_found(&out, table);
    audit_stream_put_print(&out, STR("a line"));
    audit_stream_put_problem(&out, STR("secrets: no cache"));
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
        assert_int_equal(audit_stream_total(stream), 7);
        assert_string_equal(buf_text(&told), "a line;secrets: no cache;");
        for (size_t i = 0; i < audit_table_count_rows(from); i++) {
            const struct audit_row *a = audit_table_row(from, i), *b = audit_table_row(to, i);
            const struct audit_object *of_a = audit_table_object(from, a->object),
                                      *of_b = audit_table_object(to, b->object);
            assert_int_equal(a->rule, b->rule);
            assert_int_equal(a->verdict, b->verdict);
            assert_int_equal(a->accepted, b->accepted);
            assert_true(str_eq(a->message, b->message) && str_eq(a->path, b->path));
            assert_true(str_eq(a->place, b->place) && str_eq(a->reason, b->reason));
            assert_true(str_eq(a->value, b->value));
            assert_true(str_eq(of_a->name, of_b->name) && str_eq(of_a->ns, of_b->ns));
            assert_true(str_eq(of_a->kind, of_b->kind) && str_eq(of_a->uid, of_b->uid));
        }
        struct audit_totals a = audit_table_totals(from), b = audit_table_totals(to);
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(audit_table_count_rows(from), audit_table_count_rows(to));
        assert_string_equal(audit_table_rule(from, 1)->title, audit_table_rule(to, 1)->title);
        assert_true(str_is(audit_table_rule(to, 2)->not_evaluated, "no cache of what it uses"));
        assert_int_equal(audit_table_rule(to, 1)->not_evaluated.n, 0);
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
    assert_int_equal(audit_table_totals(to).audited, 2 * audit_table_totals(one).audited);
    assert_int_equal(audit_table_totals(to).evaluated, 2 * audit_table_totals(one).evaluated);
    audit_table_free(one);
    audit_table_free(to);
    buf_clear(&bytes);
}

static void test_a_stream_that_is_cut_off_is_not_complete(void **state)
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

static void test_sent_findings_are_forgotten_but_for_the_rules(void **state)
{
    struct audit_table *table = fixture_unsorted(true);
    size_t rules = audit_table_rule_count(table);
    audit_table_forget(table);
    struct audit_totals totals = audit_table_totals(table);
    assert_int_equal(audit_table_count_rows(table) + totals.audited + totals.evaluated, 0);
    assert_int_equal(totals.verdicts[VERDICT_FAIL], 0);
    assert_int_equal(audit_table_rule_count(table), rules);
    assert_true(audit_table_rule(table, 0)->title[0] != '\0');
    audit_table_free(table);
}

/* Two children find 70 MB each about one object: far more than may stand in a frame, in pieces that come in
 * turns. Its rows stay those of one object. */
static void test_many_rows_of_an_object_are_many_frames(void **state)
{
    enum { ROWS = 18000, SIZE = 4000, STREAMS = 2, BLOCK = 64 << 10 };
    static char text[SIZE];
    struct audit_table *to = audit_table_new(false);
    struct audit_stream *streams[STREAMS];
    struct buf bytes[STREAMS] = {{0}};
    struct err err;
    memset(text, 'x', sizeof text);
    for (int s = 0; s < STREAMS; s++) {
        struct audit_table *from = fixture_unsorted(false);
        audit_table_forget(from);
        char name[] = {'p', (char)('0' + s)};
        const struct audit_object pod = {.kind = STR("Pod"), .name = {name, sizeof name}};
        audit_table_begin_object(from, &pod);
        for (int i = 0; i < ROWS; i++) {
            snprintf(text, sizeof text, "%d", i); /* texts are kept once */
            audit_table_add(from,
                            &(const struct audit_row){.verdict = VERDICT_FAIL, .message = {text, SIZE}});
        }
        audit_table_count(from, 0, VERDICT_FAIL);
        assert_true(audit_stream_put_rules(&bytes[s], from, &err));
        audit_stream_put_found(&bytes[s], from);
        audit_stream_put_end(&bytes[s]);
        audit_table_free(from);
        streams[s] = open_stream(to);
    }
    assert_true(bytes[0].len > (size_t)ROWS * SIZE);
    for (size_t at = 0; at < bytes[0].len; at += BLOCK)
        for (int s = 0; s < STREAMS; s++) {
            size_t n = bytes[s].len - at < BLOCK ? bytes[s].len - at : BLOCK;
            assert_true(audit_stream_take(streams[s], (struct str){bytes[s].data + at, n}, &err));
        }
    assert_int_equal(audit_table_totals(to).audited, STREAMS);
    assert_int_equal(audit_table_object_count(to), STREAMS);
    assert_int_equal(audit_table_count_rows(to), STREAMS * ROWS);
    size_t of_first = 0;
    for (size_t i = 0; i < audit_table_count_rows(to); i++)
        of_first += str_is(audit_table_object(to, audit_table_row(to, i)->object)->name, "p0");
    assert_int_equal(of_first, ROWS);
    for (int s = 0; s < STREAMS; s++) {
        assert_true(audit_stream_is_whole(streams[s]));
        audit_stream_free(streams[s]);
        buf_clear(&bytes[s]);
    }
    audit_table_free(to);
}

/* No frame is larger than a megabyte and a row, however much there is. */
static void test_no_frame_is_large(void **state)
{
    enum { ROWS = 2000, SIZE = 4000, HEAD = 5 };
    static char text[SIZE];
    struct audit_table *from = fixture_unsorted(false);
    struct buf bytes = {0};
    audit_table_forget(from);
    audit_table_begin_object(from, &(const struct audit_object){.kind = STR("Pod"), .name = STR("p")});
    for (int i = 0; i < ROWS; i++) {
        snprintf(text, sizeof text, "%d", i);
        audit_table_add(from, &(const struct audit_row){.verdict = VERDICT_FAIL, .message = {text, SIZE}});
    }
    audit_stream_put_found(&bytes, from);
    size_t frames = 0;
    for (size_t at = 0; at < bytes.len; frames++) {
        size_t size = 0;
        for (size_t i = 0; i < 4; i++) size |= (size_t)(unsigned char)bytes.data[at + i] << 8 * i;
        assert_true(size <= (1 << 20) + 2 * SIZE);
        at += HEAD + size;
    }
    assert_in_range(frames, 8, 12);
    audit_table_free(from);
    buf_clear(&bytes);
}

/* A line is cut, and rules are refused: neither is written by halves. */
static void test_what_is_too_much_for_a_frame(void **state)
{
    struct buf bytes = {0}, text = {0};
    struct err err;
    buf_reserve(&text, 20 << 20);
    memset(text.data, 'x', text.len = 20 << 20);
    audit_stream_put_print(&bytes, buf_slice(&text));
    assert_in_range(bytes.len, 16 << 20, (16 << 20) + 32);
    text.data[4000] = '\0';
    struct audit_table *table = audit_table_new(false);
    for (int i = 0; i < 34000; i++)
        audit_table_add_rule(
            table,
            &(const struct audit_rule){
                .id = "a", .title = text.data, .category = "", .why = text.data, .how = "", .file = "x.lua"});
    bytes.len = 0;
    assert_false(audit_stream_put_rules(&bytes, table, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_non_null(strstr(err.text, "more than 256 MiB"));
    assert_int_equal(bytes.len, 0);
    audit_table_free(table);
    buf_clear(&bytes);
    buf_clear(&text);
}

/* --- a piece of a file */

static void tell_run(void *ctx, const struct audit_unmatched_run *run)
{
    buf_printf(&told, "%.*s/%.*s at %zu: %zu;", STR_ARG(run->api_version), STR_ARG(run->kind), run->line,
               run->count);
}

static void tell_type(void *ctx, struct str api_version, struct str kind)
{
    buf_printf(&told, "%.*s/%.*s;", STR_ARG(api_version), STR_ARG(kind));
}

static void test_lines_of_a_piece_are_those_of_its_file(void **state)
{
    struct audit_table *from = audit_table_new(false), *to = audit_table_new(false);
    struct audit_stream *stream = audit_stream_new(&(const struct audit_stream_sink){
        .table = to, .unmatched = tell_run, .type = tell_type, .file = STR("pods.json")});
    const struct audit_object object = {.name = STR("web"), .file = STR("pods.json"), .line = 7};
    struct buf out = {0};
    struct err err;
    audit_table_add_rule(from,
                         &(const struct audit_rule){
                             .id = "a", .title = "", .category = "", .why = "", .how = "", .file = "a.lua"});
    audit_table_begin_object(from, &object);
    audit_table_add(from, &(const struct audit_row){.verdict = VERDICT_FAIL, .message = STR("bad")});
    audit_table_count(from, 0, VERDICT_FAIL);
    assert_true(audit_stream_put_rules(&out, from, &err));
    audit_stream_put_type(&out, STR("v1"), STR("Pod"));
    audit_stream_put_unmatched(&out, &(const struct audit_unmatched_run){STR("v1"), STR("Node"), 3, 2});
    audit_stream_put_found(&out, from);
    told.len = 0;
    audit_stream_set_line(stream, 100);
    assert_true(audit_stream_take(stream, buf_slice(&out), &err));
    assert_string_equal(buf_text(&told), "v1/Pod;v1/Node at 103: 2;");
    assert_int_equal(audit_table_object_count(to), 1);
    assert_int_equal(audit_table_object(to, 0)->line, 107);
    assert_true(str_is(audit_table_object(to, 0)->file, "pods.json"));
    audit_stream_free(stream);
    audit_table_free(from);
    audit_table_free(to);
    buf_clear(&out);
    buf_clear(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_is_the_same_at_the_other_end),
        cmocka_unit_test(test_many_rows_of_an_object_are_many_frames),
        cmocka_unit_test(test_no_frame_is_large),
        cmocka_unit_test(test_what_is_too_much_for_a_frame),
        cmocka_unit_test(test_two_streams_add_to_one_table),
        cmocka_unit_test(test_a_stream_that_is_cut_off_is_not_complete),
        cmocka_unit_test(test_any_byte_may_be_wrong),
        cmocka_unit_test(test_sent_findings_are_forgotten_but_for_the_rules),
        cmocka_unit_test(test_lines_of_a_piece_are_those_of_its_file),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    buf_clear(&told);
    return failed;
}
