/* core/base/yaml/yaml_block.c: what it reads is what libyaml reads, and what it leaves to that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/yaml/yaml_block.h"

enum { MAX = 1 << 20 };

/* Reads the text with libyaml: a comment with a tab is not of the block form. */
static bool read_by_libyaml(struct str text, struct buf *out)
{
    struct buf behind = {0};
    struct err err;
    buf_puts(&behind, "#\t\n");
    buf_str(&behind, text);
    const struct yaml_source source = {.text = buf_slice(&behind), .max = MAX, .max_name = "most"};
    bool ok = yaml_read_source(&source, out, &err);
    buf_clear(&behind);
    return ok;
}

/* Returns whether the text is of the form; if it is, libyaml must read the same. */
static bool is_read(struct str text)
{
    const struct yaml_source source = {.text = text, .max = MAX, .max_name = "most"};
    struct buf out = {0}, wanted = {0};
    buf_putc(&out, '[');
    bool ok = yaml_block_read(&source, &out);
    if (!ok) assert_int_equal(out.len, 1);
    buf_putc(&out, ']');
    if (ok && !read_by_libyaml(text, &wanted)) fail_msg("libyaml refuses %.*s", STR_ARG(text));
    if (ok) assert_string_equal(buf_text(&out), buf_text(&wanted));
    buf_clear(&out);
    buf_clear(&wanted);
    return ok;
}

static void test_block_form_is_read_as_libyaml_reads_it(void **state)
{
    static const char *const texts[] = {
        "a: 1\n",
        "---\na: b\n---\n---\n- c\n- d: e\n  f: g\n",
        "# c\na:\n  b:\n  - 1\n  - x: y\n    z:\n    - {}\n    - []\n  c: null\nd:\n",
        "a:\n- - 1\n  - 2\n-\n- b:\n\n  c: d\n",
        "k:{\"name\":\"c\"}:\n  .: {}\nf:a: {}\n\"q \\\"\\\\\\n\": 'it''s'\n's''t': \"\\t\\r\\/\"\nx y: "
        "http://a/b#c\n",
        "a: yes\nb: ~\nc: 0644\nd: 1_000\ne: .5\nf: -1\ng: --flag\nh: 1e3\ni: '1'\nj: \"on\"\nk: "
        "2020-01-01\n",
        "a: |\n  one\n\n    two: # x\n  \tthree\n\nb: |-\n  x\n\n\nc:\n- |\n  y\n- z\n",
        "ä: 日本 😀\n",
        "a: b   \n   \n  # c\nc: d\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!is_read(str_of(texts[i]))) fail_msg("not read: %s", texts[i]);
}

static void test_all_else_is_left_to_libyaml(void **state)
{
    static const char *const texts[] = {
        "",
        "a: 1",
        "text\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !!str 1\n",
        "a: {b: c}",
        "<<: {}\n",
        "? a\n",
        "a: b: c\n",
        "a: b\n  c\n",
        "a: \"b\n  c\"\n",
        "a: >\n b\n",
        "a: |+\n  b\n",
        "a: |\n\n  b\n",
        "a: |\nb: c\n",
        "a: |\n  \tb\n",
        "a: b # c\n",
        "a: 1\na: 2\n",
        "- a\n b\n",
        "a: 1\n- b\n",
        "a:\n    b: 1\n  c: 2\n",
        "a:\tb\n",
        "a: \"\\u00e4\"\n",
        "a: b\r\n",
        "a: \x01\n",
        "a: \xff\n",
        "a: \xc2\x85\n",
        "--- a\n",
        "a: 1\n...\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: - b\n",
        "a: 'b' c\n",
        "a: [1]\n",
        " a: 1\n",
        "a: |\n  b\n\tc\n",
        "\xef\xbb\xbf"
        "a: 1\n",
        "a: @b\n",
        "a: 'b\n",
        "a b\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (is_read(str_of(texts[i]))) fail_msg("read: %s", texts[i]);
}

static void test_depth_size_and_number_are_bounded(void **state)
{
    struct buf text = {0}, out = {0};
    for (int i = 0; i < 200; i++) buf_puts(&text, "- ");
    buf_puts(&text, "a\n");
    assert_false(is_read(buf_slice(&text)));
    const struct yaml_source alone = {.text = STR("a: 1\n---\nb: 2\n"), .alone = true, .max = MAX};
    assert_false(yaml_block_read(&alone, &out));
    const struct yaml_source small = {.text = STR("a: 1234567890\n"), .max = 8};
    assert_false(yaml_block_read(&small, &out));
    assert_int_equal(out.len, 0);
    buf_clear(&text);
    buf_clear(&out);
}

/* --- random texts */

static uint64_t chance;

static size_t below(size_t n)
{
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(chance >> 33) % n;
}

static const char *any(const char *const *of, size_t n)
{
    return of[below(n)];
}
#define ANY(list) any(list, ARRAY_LEN(list))

static void put_lines(struct buf *text, int indent, int depth)
{
    static const char *const keys[] = {"a",      "b", "f:c", "k:{\"n\":\"c\"}", "yes", "\"q\"", "x",
                                       "'s''t'", ".", "x y", "\"\\n\"",         "<<"},
                             *const values[] = {"1",
                                                "text",
                                                "a b",
                                                "no",
                                                "~",
                                                "07",
                                                "{}",
                                                "[]",
                                                "\"q\"",
                                                "'s'",
                                                "-1",
                                                "a: b",
                                                "|\n    x\n\n     y",
                                                "|-\n      # z",
                                                "x #c",
                                                "- x",
                                                "[1]",
                                                "*a"};
    bool list = below(3) == 0;
    for (size_t n = 1 + below(4); n; n--) {
        int spaces = indent + (below(40) == 0);
        buf_printf(text, "%*s", spaces, "");
        if (list)
            buf_puts(text, "-");
        else
            buf_printf(text, "%s%zu:", ANY(keys), n);
        if (below(3) == 0 && depth < 4) {
            buf_puts(text, "\n");
            put_lines(text, indent + 2 * (int)below(2), depth + 1);
        } else {
            buf_printf(text, " %s\n%s", ANY(values), below(30) ? "" : "\n# c\n");
        }
    }
}

static void test_random_texts_are_read_as_libyaml_reads_them(void **state)
{
    enum { TEXTS = 20000 };
    size_t read = 0;
    for (chance = 1; chance % TEXTS; chance++) {
        uint64_t seed = chance;
        struct buf text = {0};
        put_lines(&text, 0, 0);
        if (below(4) == 0) text.data[below(text.len)] = " :-#\n\"'|{a\t"[below(11)];
        read += is_read(buf_slice(&text));
        buf_clear(&text);
        chance = seed;
    }
    assert_in_range(read, TEXTS / 10, TEXTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_form_is_read_as_libyaml_reads_it),
        cmocka_unit_test(test_all_else_is_left_to_libyaml),
        cmocka_unit_test(test_depth_size_and_number_are_bounded),
        cmocka_unit_test(test_random_texts_are_read_as_libyaml_reads_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
