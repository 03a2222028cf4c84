/* core/object/token: tokens of a text, and what single ones mean. */
#include "core/object/support/objects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse/tape.h"
#include "object/parse/token.h"

struct found {
    struct token_parser *parser;
    char *text;
    struct tokens tokens;
};

static struct found find(const char *json)
{
    struct found f = {.parser = token_parser_new(), .text = xcalloc(1, strlen(json) + TAPE_PADDING)};
    memcpy(f.text, json, strlen(json));
    assert_true(tokens_find(f.parser, f.text, strlen(json), &f.tokens));
    return f;
}

static void lose(struct found *f)
{
    token_parser_free(f->parser);
    free(f->text);
}

static void assert_types(const char *json, const char *expected)
{
    struct found f = find(json);
    assert_int_equal(f.tokens.count, strlen(expected));
    for (size_t i = 0; i < f.tokens.count; i++) assert_int_equal(token_type(&f.tokens, i), expected[i]);
    assert_int_equal(token_type(&f.tokens, f.tokens.count), 0);
    lose(&f);
}

static void test_tokens_begin_where_values_and_marks_do(void **state)
{
    assert_types("{\"a\": [1, true ,null], \"b\\\"}\" : \"x\"}", "{\":[1,t,n],\":\"}");
    assert_types("  7 ", "7");
    assert_types("[\"a\"x]", "[\"x]"); /* what no grammar allows is for the walk to notice */
}

static void test_texts_that_are_none(void **state)
{
    static const char *const texts[] = {"", "   ", "\"open", "\"\xff\"", "\"a\nb\""};
    struct token_parser *parser = token_parser_new();
    struct tokens tokens;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char padded[16 + TAPE_PADDING] = {0};
        memcpy(padded, texts[i], strlen(texts[i]));
        assert_false(tokens_find(parser, padded, strlen(texts[i]), &tokens));
    }
    token_parser_free(parser);
}

static void test_strings_between_their_quotes(void **state)
{
    struct found f = find("[\"\", \"ab\" , \"c\\\"d\"  ]");
    assert_true(str_is(token_raw(&f.tokens, 1), ""));
    assert_true(str_is(token_raw(&f.tokens, 3), "ab"));
    assert_true(str_is(token_raw(&f.tokens, 5), "c\\\"d"));
    lose(&f);
}

static void test_a_backslash_is_seen_wherever_it_stands(void **state)
{
    char text[64];
    for (size_t n = 0; n < 40; n++) {
        memset(text, 'x', sizeof text);
        text[n] = '\\'; /* behind the end */
        assert_false(has_backslash(text, n));
        text[n] = 'x';
        for (size_t at = 0; at < n; at++) {
            text[at] = '\\';
            assert_true(has_backslash(text, n));
            text[at] = ']'; /* one more, which subtraction may take for it */
            assert_false(has_backslash(text, n));
            text[at] = 'x';
        }
    }
}

static bool int_of(const char *text, int64_t *n)
{
    struct found f = find(text);
    bool is = token_int(&f.tokens, 0, n);
    lose(&f);
    return is;
}

static void test_integers(void **state)
{
    static const char *const others[] = {"-",  "-0", "01",  "1.0", "1e3",   "1234567890123456789",
                                         "+1", "1x", "0x1", "--1", "1\x01", "-01"};
    int64_t n;
    assert_true(int_of("0", &n) && n == 0);
    assert_true(int_of("-17 ", &n) && n == -17);
    assert_true(int_of("999999999999999999\n", &n) && n == 999999999999999999);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(int_of(others[i], &n));
}

static bool double_of(const char *text, double *d)
{
    struct found f = find(text);
    bool is = token_double(&f.tokens, 0, d);
    lose(&f);
    return is;
}

/* Short ones are divided, long ones are left to the C library: all are the nearest double. */
static void test_doubles_of_all_lengths(void **state)
{
    for (unsigned i = 0; i < 20000; i++) {
        char text[64];
        unsigned long long digits = (i + 1) * 0x9e3779b97f4a7c15u;
        for (unsigned cut = i % 19; cut > 0; cut--) digits /= 10;
        int n = snprintf(text, sizeof text, "%s%llu.%0*llu", i % 3 ? "" : "-", digits % 100000,
                         (int)(i % 17 + 1), digits / 7 % 1000000000);
        double d, expected = strtod(text, NULL);
        assert_true(n > 0 && double_of(text, &d));
        assert_memory_equal(&d, &expected, sizeof d);
    }
}

static void test_doubles(void **state)
{
    static const char *const others[] = {"1",    "1.",    ".5", "01.5",  "1e",  "1e+", "1.e3",   "1.5x",
                                         "1.5.", "1e999", "-",  "0x1p3", "nan", "inf", "1.5\x01"};
    double d;
    assert_true(double_of("1.5", &d) && d == 1.5);
    assert_true(double_of("-0.0 ", &d) && d == 0 && signbit(d));
    assert_true(double_of("2E+2", &d) && d == 200);
    assert_true(double_of("0.1e-1", &d) && d == 0.01);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(double_of(others[i], &d));
}

static void test_atoms(void **state)
{
    static const char *const texts[] = {"true", "false",  "null ",    "tru",
                                        "nul",  "falsey", "true\x01", "nulll"};
    static const char expected[] = {'t', 'f', 'n', 0, 0, 0, 0, 0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct found f = find(texts[i]);
        assert_int_equal(token_atom(&f.tokens, 0), expected[i]);
        lose(&f);
    }
}

static void test_escapes(void **state)
{
    char out[64];
    size_t n;
    assert_true(token_unescape(STR("a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t"), out, &n));
    assert_int_equal(n, 12);
    assert_memory_equal(out, "a\"b\\c/d\b\f\n\r\t", 12);
    assert_true(token_unescape(STR("\\u0041\\n\\u006bind\\u007F, \\u00e9\\u20AC\\ud83D\\uDE80!"), out, &n));
    assert_int_equal(n, strlen("A\nkind\x7f, é€🚀!"));
    assert_memory_equal(out, "A\nkind\x7f, é€🚀!", n);
    assert_true(token_unescape(STR("a\\u0000b"), out, &n));
    assert_int_equal(n, 3);
    assert_memory_equal(out, "a\0b", 3);
    assert_false(token_unescape_name(STR("a\\u0000b"), out, &n));
    assert_true(token_unescape_name(STR("\\u0041"), out, &n));
    static const struct str wrong[] = {STR("\\u004"),         STR("\\u00"),          STR("\\u004g"),
                                       STR("\\U0041"),        STR("\\u 041"),        STR("\\ud83d"),
                                       STR("\\ud83d\\n"),     STR("\\ud83d\\ud83d"), STR("\\ud83d\\u0041"),
                                       STR("\\ude80"),        STR("\\ud83d\\ude8"),  STR("\\ud83d_ude80"),
                                       STR("\\ud83dabcdefgh")};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) assert_false(token_unescape(wrong[i], out, &n));
    assert_false(token_unescape(STR("\\x"), out, &n));
    assert_false(token_unescape(STR("\\\xc3\xa4"), out, &n));
    assert_false(token_unescape(STR("end\\"), out, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_begin_where_values_and_marks_do),
        cmocka_unit_test(test_texts_that_are_none),
        cmocka_unit_test(test_strings_between_their_quotes),
        cmocka_unit_test(test_a_backslash_is_seen_wherever_it_stands),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_doubles_of_all_lengths),
        cmocka_unit_test(test_atoms),
        cmocka_unit_test(test_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
