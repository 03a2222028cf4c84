/* core/base/text/terminal.c: texts of others on a terminal (E-9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "base/text/terminal.h"

#define GONE "\xef\xbf\xbd"

static void test_no_text_gives_orders(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"},
        {"\033[2J\007\x7f", GONE "[2J" GONE GONE},
        {"a\nb\tc\rd", "a b c d"},
        {"\xc2\x9b"
         "31m",
         GONE "31m"}, /* CSI in one character */
        {"\xe2\x80\xae"
         "txt.exe",
         GONE "txt.exe"},                                         /* right to left from here on */
        {"\xe2\x80\xa8\xe2\x80\x8b\xef\xbb\xbf", GONE GONE GONE}, /* a line's end, and what is not seen */
        {"\xff\xe2\x82", GONE GONE GONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};
        terminal_put(&out, str_of(cases[i].text));
        assert_string_equal(buf_text(&out), cases[i].shown);
        buf_clear(&out);
    }
}

static void test_json_means_the_same_without_orders(void **state)
{
    static const char *const cases[][2] = {
        {"{\"a\":\"caf\xc3\xa9\"}\n", "{\"a\":\"caf\xc3\xa9\"}\n"},
        {"\"\x7f\xc2\x9b\"", "\"\\u007f\\u009b\""},
        {"\"\xe2\x80\xae"
         "a\xef\xbb\xbf\"",
         "\"\\u202ea\\ufeff\""},
        {"\"" GONE "\"", "\"" GONE "\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};
        terminal_put_json(&out, str_of(cases[i][0]));
        assert_string_equal(buf_text(&out), cases[i][1]);
        assert_false(terminal_is_safe(str_of(cases[i][0])));
        buf_clear(&out);
    }
    assert_true(terminal_is_safe(STR("caf\xc3\xa9 {}")));
    assert_false(terminal_is_safe(STR("a\nb")));
    assert_false(terminal_is_safe(STR("\xff")));
}

static void test_columns_are_those_of_a_terminal(void **state)
{
    assert_int_equal(terminal_columns(STR("")), 0);
    assert_int_equal(terminal_columns(STR("caf\xc3\xa9")), 4);
    assert_int_equal(terminal_columns(STR("cafe\xcc\x81")), 4);
    assert_int_equal(terminal_columns(STR("\xe4\xb8\xad\xe6\x96\x87")), 4);
    assert_int_equal(terminal_columns(STR("\xf0\x9f\x98\x80!")), 3);
}

static void assert_wraps(const char *text, size_t columns, const char *expected)
{
    struct buf out = {0};
    struct str rest = str_of(text), line;
    while (terminal_wrap(&rest, columns, &line)) {
        if (out.len) buf_putc(&out, '|');
        buf_str(&out, line);
    }
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

static void test_lines_break_behind_words(void **state)
{
    assert_wraps("one two three", 20, "one two three");
    assert_wraps("one two three", 13, "one two three");
    assert_wraps("one two three", 12, "one two|three");
    assert_wraps("one two three", 7, "one two|three");
    assert_wraps("one  two", 4, "one |two");
    assert_wraps("registry.example/app", 9, "registry.|example/a|pp");
    assert_wraps("a registry.example", 9, "a|registry.|example");
    assert_wraps("\xe4\xb8\xad\xe6\x96\x87", 3, "\xe4\xb8\xad|\xe6\x96\x87");
    assert_wraps("ab", 0, "a|b"); /* however narrow, it comes to an end */
    assert_wraps("", 5, "");
    assert_wraps("   ", 5, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_text_gives_orders),
        cmocka_unit_test(test_json_means_the_same_without_orders),
        cmocka_unit_test(test_columns_are_those_of_a_terminal),
        cmocka_unit_test(test_lines_break_behind_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
