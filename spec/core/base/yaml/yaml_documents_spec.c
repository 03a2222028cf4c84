/* core/base/yaml/yaml_documents.c: texts of YAML, and how reading one ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/yaml/yaml_documents.h"

enum { MAX = 64 };

/* What the text becomes, or the error's text. */
static void assert_read(const char *text, bool alone, const char *expected)
{
    struct buf out = {0};
    struct err err = {0};
    struct yaml_source source = {.text = str_of(text), .alone = alone, .max = MAX, .max_name = "most"};
    bool ok = yaml_read_source(&source, &out, &err);
    assert_string_equal(ok ? buf_text(&out) : err.text, expected);
    buf_clear(&out);
}

static void test_documents_become_an_array(void **state)
{
    assert_read("", false, "[]");
    assert_read("# nothing\n---\n--- # nothing\n", true, "[]");
    assert_read("a: 1\n---\n- b\n---\n~\n---\n''\n...\n", false, "[{\"a\":1},[\"b\"],null,\"\"]");
    assert_read("---\n---\na: 1\n", true, "[{\"a\":1}]");
    assert_read("a: 1\n---\n- b\n", true, "line 3: a second document");
}

static void test_nothing_is_read_behind_the_first_document(void **state)
{
    static const char *const cases[][2] = {{"a: 1\n---\nb: [", "[{\"a\":1}]"},
                                           {"a: 1\n...\n}}}", "[{\"a\":1}]"},
                                           {"---\n---\na: 1\n", "[]"},
                                           {"a: 1\n}\n", "line 2: did not find expected key while parsing a "
                                                         "block mapping"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = {0};
        struct err err = {0};
        struct yaml_source source = {
            .text = str_of(cases[i][0]), .first = true, .max = MAX, .max_name = "most"};
        bool ok = yaml_read_source(&source, &out, &err);
        assert_string_equal(ok ? buf_text(&out) : err.text, cases[i][1]);
        buf_clear(&out);
    }
}

static void test_errors_name_the_line(void **state)
{
    assert_read("a: 1\n---\nb: 1\n'b': 2\n", false, "line 4: duplicate map key \"b\"");
    assert_read("a: [\n---\n", false, "line 2: did not find expected node content while parsing a flow node");
    assert_read("a: 1\nb: \xff\n", false, "line 1: invalid leading UTF-8 octet");
}

static void assert_go(const char *text, const char *expected)
{
    struct buf out = {0};
    struct err err = {0};
    struct yaml_source source = {.text = str_of(text), .as_go = true, .max = MAX, .max_name = "most"};
    bool ok = yaml_read_source(&source, &out, &err);
    assert_string_equal(ok ? buf_text(&out) : err.text, expected);
    buf_clear(&out);
}

static void test_mistakes_are_those_of_go(void **state)
{
    assert_read("a: \"x\\/y\"\n", false, "[{\"a\":\"x/y\"}]");
    assert_go("a: \"x\\/y\"\n", "yaml: found unknown escape character");
    assert_go("a: b\nc: \"x\n  \\\\\\/y\"\n", "yaml: line 3: found unknown escape character");
    assert_go("- 'x\\/y'\n- x\\/y\n- \"\\\\/\" # \"\\/\"\n", "[[\"x\\\\/y\",\"x\\\\/y\",\"\\\\/\"]]");
    assert_go("x\\/y: 1\nx\\qy: 2\n", "[{\"x\\\\/y\":1,\"x\\\\qy\":2}]");
    assert_go("a: @", "yaml: found character that cannot start any token");
    assert_go("a: b\n  c: d", "yaml: line 2: mapping values are not allowed in this context");
    assert_go("- a\nb: c", "yaml: line 1: did not find expected '-' indicator");
    assert_go("a: 1\n\n\nb: \xff\n", "yaml: invalid leading UTF-8 octet");
    assert_go("a: 1\na: 2\nb: [", "yaml: line 3: did not find expected node content");
    assert_go("a: 1\na: 2\n", "yaml: line 2: duplicate map key \"a\"");
}

static void test_all_documents_together_have_a_limit(void **state)
{
    char text[2 * MAX + 20] = "a: 1\n---\n";
    memset(text + strlen(text), 'x', MAX - 1);
    assert_read(text, false, "line 3: more than 64 bytes (most)");
    text[strlen(text) - 12] = '\0';
    assert_read(text + strlen("a: 1\n---\n"), false,
                "[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"]");
}

static void test_tags_have_a_limit(void **state)
{
    struct buf text = {0};
    for (int i = 0; i < 4000; i++) buf_printf(&text, "%%TAG !t%d! tag:a\n", i);
    buf_puts(&text, "--- {}\n");
    struct buf out = {0};
    struct err err = {0};
    struct yaml_source source = {.text = buf_slice(&text), .max = MAX, .max_name = "most"};
    assert_false(yaml_read_source(&source, &out, &err));
    assert_non_null(strstr(err.text, ": more than 100 %TAG directives"));
    buf_clear(&out);
    buf_clear(&text);
}

struct timeout {
    int left;
};

static bool is_over(void *ctx)
{
    struct timeout *timeout = ctx;
    return timeout->left-- == 0;
}

static void test_it_stops_when_it_is_cancelled(void **state)
{
    for (int after = 0; after < 12; after++) {
        struct buf out = {0};
        struct err err = {0};
        struct timeout timeout = {after};
        struct yaml_source source = {.text = STR("a: &a [b, c, {d: e}]\nf: *a\n"),
                                     .max = 1000,
                                     .max_name = "most",
                                     .stops = is_over,
                                     .ctx = &timeout};
        assert_false(yaml_read_source(&source, &out, &err));
        assert_int_equal(err.code, ERR_CANCELLED);
        assert_int_equal(timeout.left, -1); /* and it does not ask again */
        buf_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents_become_an_array),
        cmocka_unit_test(test_nothing_is_read_behind_the_first_document),
        cmocka_unit_test(test_errors_name_the_line),
        cmocka_unit_test(test_mistakes_are_those_of_go),
        cmocka_unit_test(test_all_documents_together_have_a_limit),
        cmocka_unit_test(test_tags_have_a_limit),
        cmocka_unit_test(test_it_stops_when_it_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
