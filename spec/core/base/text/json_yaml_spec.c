/* core/base/text/json_out.c: JSON text as YAML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/json_out.h"

static void assert_yaml(const char *json, const char *yaml)
{
    struct buf out = {0};
    json_yaml(&out, str_of(json), 0, false);
    assert_string_equal(buf_text(&out), yaml);
    buf_clear(&out);
}

static void test_containers_are_blocks(void **state)
{
    assert_yaml("{\"a\":1,\"b\":{\"c\":[1,{\"d\":null,\"e\":[]},[true,{}]]}}",
                "a: 1\nb:\n  c:\n  - 1\n  - d: null\n    e: []\n  - - true\n    - {}\n");
    assert_yaml("{ \"a\" :\n[ -1.5e+3 ] }", "a:\n- -1.5e+3\n");
    assert_yaml("[]", "[]\n");
    assert_yaml("{}", "{}\n");
    assert_yaml("\"x\"", "\"x\"\n");
    assert_yaml("5", "5\n");
}

/* YAML 1.1 reads `no` as false, and `1e3` as a number. */
static void test_texts_stay_texts(void **state)
{
    assert_yaml("{\"no\":\"no\",\"Y\":\"1\",\"1e3\":\"\",\"a b\":\"x: y\",\"app.kubernetes.io/name\":\"- "
                "z\",\"\":\"#\"}",
                "\"no\": \"no\"\n\"Y\": \"1\"\n\"1e3\": \"\"\n\"a b\": \"x: y\"\n"
                "app.kubernetes.io/name: \"- z\"\n\"\": \"#\"\n");
}

static void test_characters_that_may_not_stand_for_themselves_are_escaped(void **state)
{
    assert_yaml("\"\\u0000 \\u001b \\n \\/ \\\\ \\\" \x7f \xc2\x85 \xc2\xa0 \xef\xbf\xbf \xe2\x80\xa8\"",
                "\"\\x00 \\x1b \\n / \\\\ \\\" \\x7f \\x85 \xc2\xa0 \\uffff \\u2028\"\n");
    assert_yaml("\"\\u00e9 \\ud83d\\ude00 \\u20ac \xf0\x9f\x98\x80\"",
                "\"\xc3\xa9 \xf0\x9f\x98\x80 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
    assert_yaml("\"\\ud83d \\ude00 \\ud83dx \xff\"",
                "\"\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbdx \xef\xbf\xbd\"\n");
}

static void test_a_part_of_a_larger_block(void **state)
{
    struct buf out = {0};
    buf_puts(&out, "- ");
    json_yaml(&out, STR("{\"a\":1,\"b\":[2]}"), 1, true);
    assert_string_equal(buf_text(&out), "- a: 1\n  b:\n  - 2\n");
    buf_clear(&out);
}

static void assert_bare(const char *json, const char *expected)
{
    struct buf out = {0};
    json_yaml_bare(&out, str_of(json));
    assert_string_equal(buf_text(&out), expected);
    buf_clear(&out);
}

static void test_bare_texts_have_quotes_where_they_need_them(void **state)
{
    assert_bare("{\"a b\":\"c d\",\"image\":\"nginx:1.27\",\"e:\":\"f:\",\"g\":\"h #i\",\"no\":\"Yes\"}",
                "a b: c d\nimage: nginx:1.27\n\"e:\": \"f:\"\ng: \"h #i\"\n\"no\": \"Yes\"\n");
    assert_bare("[\"\",\"1a\",\"a \",\"a  b\",\"a\\tb\",\"a\\u00e9\",\"http://x\"]",
                "- \"\"\n- \"1a\"\n- \"a \"\n- \"a  b\"\n- \"a\\tb\"\n- \"a\xc3\xa9\"\n- http://x\n");
    assert_bare("\"a\"", "a\n");
    assert_bare("null", "null\n");
    assert_bare(" [ ]", "[]\n");
}

static void test_bare_texts_of_several_lines_are_blocks(void **state)
{
    assert_bare("{\"a\":[\"b\\n\\n c\\td\\n\",{\"e\":\"f\\\"\\ng\"}],\"h\":\"i\\n\\n\\n\"}",
                "a:\n- |\n  b\n\n   c\td\n- e: |-\n    f\"\n    g\nh: |+\n  i\n\n\n");
    assert_bare("[\" a\\nb\",\"\\na\",\"\\ta\\n\",\"a\\r\\nb\",\"a\\n\\u0085b\",\"\\n\"]",
                "- \" a\\nb\"\n- \"\\na\"\n- \"\\ta\\n\"\n- \"a\\r\\nb\"\n- \"a\\n\\x85b\"\n- \"\\n\"\n");
    assert_bare("\"a\\nb\"", "|-\n  a\n  b\n");
}

/* YAML looks for the colon behind a key a thousand characters long. */
static void test_a_long_key_has_a_mark(void **state)
{
    char key[1201], json[1300], expected[1300];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    snprintf(json, sizeof json, "{\"a\":{\"%s\":{\"b\":1}}}", key);
    snprintf(expected, sizeof expected, "a:\n  ? %s\n  :\n    b: 1\n", key);
    assert_bare(json, expected);
}

/* It is made for JSON that we wrote; but nothing is read behind its end. */
static void test_what_is_cut_off_ends_there(void **state)
{
    static const char text[] = "{\"a\":{\"b\":[1,\"\\ud83d\\ude00\",{\"c\\u0001\":null}]},\"d\":\"e\"}";
    for (size_t n = 0; n <= sizeof text - 1; n++) {
        struct buf out = {0};
        char *part = xmalloc(n ? n : 1); /* without a NUL: a sanitizer sees what is read behind it */
        memcpy(part, text, n);
        json_yaml(&out, (struct str){part, n}, 0, false);
        assert_true(out.len < 2 * sizeof text);
        out.len = 0;
        json_yaml_bare(&out, (struct str){part, n});
        assert_true(out.len < 2 * sizeof text);
        buf_clear(&out);
        free(part);
    }
}

static void test_depth_is_bounded(void **state)
{
    enum { DEEP = 200000 };
    struct buf json = {0}, out = {0};
    for (int i = 0; i < DEEP; i++) buf_putc(&json, '[');
    json_yaml(&out, buf_slice(&json), 0, false);
    assert_true(out.len < DEEP);
    buf_clear(&json);
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_containers_are_blocks),
        cmocka_unit_test(test_texts_stay_texts),
        cmocka_unit_test(test_characters_that_may_not_stand_for_themselves_are_escaped),
        cmocka_unit_test(test_a_part_of_a_larger_block),
        cmocka_unit_test(test_bare_texts_have_quotes_where_they_need_them),
        cmocka_unit_test(test_bare_texts_of_several_lines_are_blocks),
        cmocka_unit_test(test_a_long_key_has_a_mark),
        cmocka_unit_test(test_what_is_cut_off_ends_there),
        cmocka_unit_test(test_depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
