/* core/base/{str,buf,err,log}.c: slices, buffers, errors as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

static void test_cut_walks_the_parts_and_keeps_empty_ones(void **state)
{
    struct str rest = STR("a,,b"), part;
    assert_true(str_cut(&rest, ',', &part) && str_is(part, "a"));
    assert_true(str_cut(&rest, ',', &part) && part.n == 0);
    assert_true(str_cut(&rest, ',', &part) && str_is(part, "b"));
    assert_false(str_cut(&rest, ',', &part));
}

static void test_numbers_are_integers_and_in_range(void **state)
{
    uint64_t n;
    assert_true(str_to_u64(STR("18446744073709551615"), &n) && n == UINT64_MAX);
    assert_false(str_to_u64(STR("18446744073709551616"), &n));
    assert_false(str_to_u64(STR(""), &n));
    assert_false(str_to_u64(STR("-1"), &n));
    assert_false(str_to_u64(STR("1 "), &n));
}

static void test_order_is_bytewise_and_a_prefix_comes_first(void **state)
{
    assert_true(str_cmp(STR("a"), STR("ab")) < 0);
    assert_true(str_cmp(STR("b"), STR("ab")) > 0);
    assert_int_equal(str_cmp(STR("ab"), STR("ab")), 0);
    assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
}

static void test_numbers_in_texts_are_in_the_order_of_numbers(void **state)
{
    static const char *const sorted[] = {"",
                                         "a",
                                         "a[2]",
                                         "a[10]",
                                         "a[10].b",
                                         "a[10].c",
                                         "aa",
                                         "b01",
                                         "b1",
                                         "b1x",
                                         "b002",
                                         "c99999999999999999999",
                                         "c100000000000000000000"};
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++)
        for (size_t j = 0; j < sizeof sorted / sizeof *sorted; j++) {
            int order = str_cmp_natural(str_of(sorted[i]), str_of(sorted[j]));
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

static void test_trim_takes_blanks_off_both_ends(void **state)
{
    assert_true(str_is(str_trim(STR(" \t x y \r\n")), "x y"));
    assert_int_equal(str_trim(STR(" \n")).n, 0);
}

static void test_a_buffer_grows_and_passes_its_memory_on(void **state)
{
    struct buf b = {0};
    for (int i = 0; i < 1000; i++) buf_printf(&b, "%d,", i);
    assert_true(str_starts(buf_slice(&b), STR("0,1,2,")));
    buf_consume(&b, 2);
    assert_true(str_starts(buf_slice(&b), STR("1,2,")));
    char *text = buf_take(&b);
    assert_int_equal(b.len, 0);
    assert_true(str_ends(str_of(text), STR("999,")));
    free(text);
}

static void test_json_strings_replace_what_is_no_utf8(void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"a\xff", "\"a\\ufffd\""},
        {"\xc3", "\"\\ufffd\""},
        {"\xc3\"", "\"\\ufffd\\\"\""},
        {"\xc0\x80", "\"\\ufffd\\ufffd\""},
        {"\xed\xa0\x80z", "\"\\ufffd\\ufffd\\ufffdz\""},
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\xe2\x82z", "\"\\ufffd\\ufffdz\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};
        buf_json_string(&b, str_of(cases[i].text));
        assert_string_equal(buf_text(&b), cases[i].json);
        buf_clear(&b);
    }
}

static void test_json_strings_escape_what_must_be(void **state)
{
    struct buf b = {0};
    buf_json_string(&b, (struct str){"a\"b\\c\n\t\x01\xc3\xa9\0z", 12});
    assert_string_equal(buf_text(&b), "\"a\\\"b\\\\c\\n\\t\\u0001\xc3\xa9\\u0000z\"");
    buf_clear(&b);
}

static void expect_json(const char *text, const char *expected)
{
    struct buf b = {0};
    buf_json_string(&b, str_of(text));
    assert_string_equal(buf_text(&b), expected);
    buf_clear(&b);
}

#define BAD "\\ufffd"

static void test_what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
    expect_json("a\xff\xc3", "\"a" BAD BAD "\"");                       /* no first byte; cut off */
    expect_json("\xc0\xaf\xe0\x9f\xbf", "\"" BAD BAD BAD BAD BAD "\""); /* overlong */
    expect_json("\xed\xa0\x80", "\"" BAD BAD BAD "\"");                 /* a surrogate */
    expect_json("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"");         /* beyond U+10FFFF */
    expect_json("\x80x\xe2\x82!", "\"" BAD "x" BAD BAD "!\"");          /* alone; cut by a letter */
}

/* What is logged by `format`, taken from the descriptor. */
static const char *logged(enum log_format format, const struct log_field *fields)
{
    static char text[4096];
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    log_setup(format, 0);
    log_write(LOG_ERROR, "scripts/x.lua", 0, "m\xff", fields);
    log_setup(LOG_TEXT, 0);
    dup2(saved, STDERR_FILENO);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = '\0';
    close(ends[0]);
    close(ends[1]);
    close(saved);
    return text;
}

/* No line of it can look like a record, and no character can do harm to a terminal. */
static void test_text_of_many_lines_follows_a_text_record_indented(void **state)
{
    const struct log_field fields[] = {
        FL("trace", STR("x.lua:1: in \"f\"\nE1121 15:04:05 forged\r\x1b[2J\xff\n\nend")),
        F("k", "v\nw"),
        {.key = NULL},
    };
    const char *text = logged(LOG_TEXT, fields);
    assert_string_equal(strstr(text, " x.lua] "), " x.lua] \"m" BAD "\" k=\"v\\nw\"\n"
                                                  "    x.lua:1: in \"f\"\n"
                                                  "    E1121 15:04:05 forged\\u000d\\u001b[2J"
                                                  "\xef\xbf\xbd"
                                                  "\n"
                                                  "    \n"
                                                  "    end\n");
    text = logged(LOG_JSON, fields);
    assert_non_null(
        strstr(text, "\"caller\":\"x.lua\",\"msg\":\"m" BAD "\",\"trace\":\"x.lua:1: in \\\"f\\\"\\nE1121"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void test_a_json_line_of_the_log_is_utf8_whatever_it_is_about(void **state)
{
    const char *line = logged(LOG_JSON, (const struct log_field[]){F("k", "v\xfe"), {.key = NULL}});
    assert_non_null(strstr(line, "\"msg\":\"m" BAD "\",\"k\":\"v" BAD "\"}\n"));
}

static void test_an_error_gains_context_and_stays_one_line(void **state)
{
    struct err err;
    assert_false(err_set(&err, ERR_IO, "no such\nfile"));
    assert_false(err_wrap(&err, "config %s", "x.yaml"));
    assert_string_equal(err.text, "config x.yaml: no such file");
    assert_int_equal(err.code, ERR_IO);
    assert_int_equal(err.retry_after_ms, -1);
    assert_false(err_set(NULL, ERR_IO, "nobody asked"));
}

/* Servers and files supply parts of it: a terminal obeys none of them, and none is shown in another order. */
static void test_an_error_of_a_text_names_file_and_line(void **state)
{
    static const struct {
        const char *text, *in_file;
    } cases[] = {
        {"line 12: no name", "a.yaml:12: no name"},
        {"no name", "a.yaml: no name"},
        {"line 12", "a.yaml: line 12"},
        {"line 12 is wrong", "a.yaml: line 12 is wrong"},
        {"line up: no name", "a.yaml: line up: no name"},
        {"line 3: item 2: line 4: x", "a.yaml:3: item 2: line 4: x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err;
        err_set(&err, ERR_PARSE, "%s", cases[i].text);
        assert_false(err_in_file(&err, "a.yaml"));
        assert_string_equal(err.text, cases[i].in_file);
        assert_int_equal(err.code, ERR_PARSE);
    }
    assert_false(err_in_file(NULL, "a.yaml"));
}

static void test_an_error_is_neutral(void **state)
{
    struct err err;
    err_set(&err, ERR_HTTP,
            "a\x1b[2Jb\xe2\x80\xae"
            "c\xc2\x9b"
            "d\xff\te \xc3\xa4 \xf0\x9f\x98\x80");
    assert_string_equal(err.text, "a?[2Jb?c?d? e \xc3\xa4 \xf0\x9f\x98\x80");
    const struct log_field fields[] = {FL("trace", STR("f\xe2\x80\xae"
                                                       "g")),
                                       F("k", "\x1b[2J\xe2\x80\xae \xc3\xa4"),
                                       {.key = NULL}};
    const char *text = logged(LOG_TEXT, fields);
    assert_non_null(strstr(text, " k=\"\\u001b[2J\\u202e \xc3\xa4\"\n    f\\u202eg\n"));
    text = logged(LOG_JSON, fields);
    assert_non_null(strstr(text, "\"k\":\"\\u001b[2J\\u202e \xc3\xa4\""));
}

static void test_a_long_error_is_cut_and_reports_it(void **state)
{
    struct err err;
    char text[4000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    err_set(&err, ERR_IO, "%s", text);
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
    assert_true(str_ends(str_of(err.text), STR("...")));
}

static void test_each_code_of_an_error_has_a_name(void **state)
{
    for (int code = 0; code < ERR_CODES; code++) assert_non_null(err_code_name(code));
    assert_string_equal(err_code_name(ERR_OUTDATED), "outdated");
}

static void test_a_buffer_is_cut_between_characters(void **state)
{
    struct buf b = {0};
    buf_puts(&b, "kept");
    buf_puts(&b, "a\xc3\xa4z");
    buf_shorten(&b, 4, 4); /* all of it */
    assert_string_equal(buf_text(&b), "kepta\xc3\xa4z");
    buf_shorten(&b, 4, 2);
    assert_string_equal(buf_text(&b), "kepta...");
    buf_shorten(&b, 4, 0);
    assert_string_equal(buf_text(&b), "kept...");
    buf_clear(&b);
}

static void test_hashes_agree_within_the_process(void **state)
{
    assert_true(hash_str(STR("pods")) == hash_bytes("pods", 4));
    assert_true(hash_str(STR("pods")) != hash_str(STR("pode")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_walks_the_parts_and_keeps_empty_ones),
        cmocka_unit_test(test_numbers_are_integers_and_in_range),
        cmocka_unit_test(test_order_is_bytewise_and_a_prefix_comes_first),
        cmocka_unit_test(test_numbers_in_texts_are_in_the_order_of_numbers),
        cmocka_unit_test(test_trim_takes_blanks_off_both_ends),
        cmocka_unit_test(test_a_buffer_grows_and_passes_its_memory_on),
        cmocka_unit_test(test_json_strings_replace_what_is_no_utf8),
        cmocka_unit_test(test_json_strings_escape_what_must_be),
        cmocka_unit_test(test_what_is_no_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(test_text_of_many_lines_follows_a_text_record_indented),
        cmocka_unit_test(test_a_json_line_of_the_log_is_utf8_whatever_it_is_about),
        cmocka_unit_test(test_an_error_gains_context_and_stays_one_line),
        cmocka_unit_test(test_an_error_of_a_text_names_file_and_line),
        cmocka_unit_test(test_an_error_is_neutral),
        cmocka_unit_test(test_a_long_error_is_cut_and_reports_it),
        cmocka_unit_test(test_each_code_of_an_error_has_a_name),
        cmocka_unit_test(test_a_buffer_is_cut_between_characters),
        cmocka_unit_test(test_hashes_agree_within_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
