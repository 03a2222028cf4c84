/* core/script/generation/state_record.c: records of stored states, and what is refused as none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "script/generation/state_record.h"

/* { [1] = true, a = { "x" } }, as state_walk_write has it. */
static const char body[] =
    "{\1\0\0\0\1\0\0\0n\0\0\0\0\0\0\360?ts\1\0\0\0a[\1\0\0\0\0\0\0\0n\0\0\0\0\0\0\360?s\1\0\0\0x}}";

static struct str whole_body(void)
{
    return (struct str){body, sizeof body - 1};
}

static void test_what_is_written_is_read(void **state)
{
    struct buf bytes = {0};
    struct state_record record;
    struct err err;
    state_record_write(whole_body(), 7, &bytes);
    assert_true(bytes.len - whole_body().n <= STATE_RECORD_HEAD_MAX);
    if (!state_record_read(buf_slice(&bytes), &record, &err)) fail_msg("%s", err.text);
    assert_int_equal(record.version, 7);
    assert_int_equal(record.body.n, whole_body().n);
    assert_memory_equal(record.body.p, body, record.body.n);
    buf_clear(&bytes);
}

static void test_every_cut_and_every_other_byte_is_refused(void **state)
{
    struct buf bytes = {0};
    struct state_record record;
    struct err err;
    state_record_write(whole_body(), 7, &bytes);
    for (size_t n = 0; n < bytes.len; n++) {
        assert_false(state_record_read((struct str){bytes.data, n}, &record, &err));
        assert_int_equal(err.code, ERR_PARSE);
        bytes.data[n] ^= 1;
        bool ok = state_record_read(buf_slice(&bytes), &record, &err);
        /* The version is of the script: another number is another version. */
        if (ok) assert_int_not_equal(record.version, 7);
        bytes.data[n] ^= 1;
    }
    buf_puts(&bytes, "x");
    assert_false(state_record_read(buf_slice(&bytes), &record, &err));
    buf_clear(&bytes);
}

/* With a checksum that is right: what only another program or an error of ours could have written. */
static void test_a_body_that_cannot_be_read_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } wrong[] = {
        {"", 0},
        {"t", 1},
        {"{\0\0\0\0\0\0\0\0", 9},                         /* it has no end */
        {"{\0\0\0\0\0\0\0\0}}", 11},                      /* and two */
        {"{\0\0\0\0\377\377\377\377}", 10},               /* room for more entries than bytes are left */
        {"{\0\0\0\0\1\0\0\0s\11\0\0\0at}", 16},           /* a text beyond the end */
        {"{\0\0\0\0\1\0\0\0zt}", 12},                     /* no such letter */
        {"{\0\0\0\0\1\0\0\0n\0\0\0\0\0\0\370\177t}", 20}, /* a key that is nan */
        {"{\0\0\0\0\1\0\0\0t}", 11},                      /* a key without a value */
    };
    struct state_record record;
    struct err err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct buf bytes = {0};
        state_record_write((struct str){wrong[i].bytes, wrong[i].n}, 1, &bytes);
        if (state_record_read(buf_slice(&bytes), &record, &err)) fail_msg("number %zu was read", i);
        assert_string_equal(err.text, "its content is damaged");
        buf_clear(&bytes);
    }
}

static void test_tables_are_not_nested_without_end(void **state)
{
    struct buf deep = {0}, bytes = {0};
    struct state_record record;
    struct err err;
    for (int i = 0; i < 200; i++) buf_append(&deep, "{\0\0\0\0\1\0\0\0t", 10);
    for (int i = 0; i < 400; i++) buf_putc(&deep, '}');
    state_record_write(buf_slice(&deep), 1, &bytes);
    assert_false(state_record_read(buf_slice(&bytes), &record, &err));
    buf_clear(&deep);
    buf_clear(&bytes);
}

static void test_other_formats_are_named(void **state)
{
    static const char *const wrong[][2] = {
        {"", "not a state"},
        {"apiVersion: v1\n", "not a state"},
        {"kubelua-state 2 le 1 0 x\n", "stored in format 2, and this program reads 1"},
        {"kubelua-state 1 be 1 0 x\n", "stored by a machine with another byte order"},
        {"kubelua-state one le 1 0 x\n", "its first line is damaged"},
        {"kubelua-state 1 le 1 9 x\n", "0 bytes long, and it was written with 9"},
        {"kubelua-state 1 le 1 0 x\n", "its checksum is wrong"},
    };
    struct state_record record;
    struct err err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(state_record_read(str_of(wrong[i][0]), &record, &err));
        assert_string_equal(err.text, wrong[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_every_cut_and_every_other_byte_is_refused),
        cmocka_unit_test(test_a_body_that_cannot_be_read_is_refused),
        cmocka_unit_test(test_tables_are_not_nested_without_end),
        cmocka_unit_test(test_other_formats_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
