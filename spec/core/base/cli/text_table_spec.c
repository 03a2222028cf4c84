/* core/base/cli/text_table.c: tables for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cli/text_table.h"

static const struct text_column columns[] = {
    {"NAME", false}, {"COUNT", true}, {"STATE", false}, {NULL, false}};

static char *print(const struct text_table *table, size_t width, bool colours)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    text_table_print(table, out, width, colours);
    fclose(out);
    return text;
}

#define assert_prints(table, width, colours, expected) \
    do {                                               \
        char *text = print(table, width, colours);     \
        assert_string_equal(text, expected);           \
        free(text);                                    \
    } while (0)

static void test_columns_are_as_wide_as_their_widest_cell(void **state)
{
    struct text_table table = {.columns = columns};
    text_table_add(&table, (const char *const[]){"a", "7", "synced"});
    text_table_add(&table, (const char *const[]){"caf\xc3\xa9s", "123456", "error"});
    text_table_tint(&table, 2, TINT_BAD);
    text_table_note(&table, "it is forbidden to do that");
    text_table_note(&table, "it is forbidden");
    assert_prints(&table, 0, false,
                  "NAME    COUNT  STATE\n"
                  "a           7  synced\n"
                  "caf\xc3\xa9s  123456  error\n"
                  "    it is forbidden\n");
    assert_prints(&table, 17, true,
                  "NAME    COUNT  \n"
                  "a           7  \n"
                  "caf\xc3\xa9s  123456  \033[31m\033[0m\n"
                  "    it is forb...\n");
    text_table_clear(&table);
}

static void test_a_long_name_does_not_push_the_rest_off_the_screen(void **state)
{
    struct text_table table = {.columns = columns};
    text_table_add(&table, (const char *const[]){"short", "7", "synced"});
    text_table_add(&table, (const char *const[]){"a name that is longer than what there is", "1", "error"});
    text_table_note(&table, "why");
    text_table_add_note(&table, "");
    text_table_add_note(&table, "and why");
    assert_prints(&table, 34, false,
                  "NAME                 COUNT  STATE\n"
                  "short                    7  synced\n"
                  "a name that is longer than what...\n"
                  "                         1  error\n"
                  "    why\n"
                  "    and why\n");
    assert_prints(&table, 0, false,
                  "NAME                                      COUNT  STATE\n"
                  "short                                         7  synced\n"
                  "a name that is longer than what there is      1  error\n"
                  "    why\n"
                  "    and why\n");
    text_table_clear(&table);
}

static void test_no_text_moves_the_cursor(void **state)
{
    struct text_table table = {.columns = columns};
    text_table_add(&table, (const char *const[]){"a\x1b[2J", "1\n2", "b\177"});
    text_table_note(&table, "the server says:\r\n\x1b]0;x\a");
    assert_prints(&table, 0, true,
                  "NAME   COUNT  STATE\n"
                  "a [2J    1 2  b \n"
                  "    the server says:   ]0;x \n");
    text_table_clear(&table);
}

static void test_durations_and_sizes_are_short(void **state)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } durations[] = {{-3, "0s"},     {0, "0s"},     {59, "59s"},     {60, "1m"},
                     {3661, "1h1m"}, {86400, "1d"}, {90061, "1d1h"}, {86400 * 400 + 5, "400d"}};
    struct buf out = {0};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        out.len = 0;
        text_duration(durations[i].seconds, &out);
        assert_string_equal(buf_text(&out), durations[i].text);
    }
    out.len = 0;
    text_bytes(1023, &out);
    buf_putc(&out, ' ');
    text_bytes(1536, &out);
    buf_putc(&out, ' ');
    text_bytes(500LL << 20, &out);
    assert_string_equal(buf_text(&out), "1023 1.5Ki 500Mi");
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(test_a_long_name_does_not_push_the_rest_off_the_screen),
        cmocka_unit_test(test_no_text_moves_the_cursor),
        cmocka_unit_test(test_durations_and_sizes_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
