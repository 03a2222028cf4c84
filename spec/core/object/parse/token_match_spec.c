/* core/object/token_match: which bracket closes which. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse/token.h"

struct matched {
    struct token_parser *parser;
    char *text;
    struct tokens tokens;
    uint32_t *close;
};

static struct matched match(const char *json)
{
    struct matched m = {.parser = token_parser_new(), .text = padded(str_of(json))};
    assert_true(tokens_find(m.parser, m.text, strlen(json), &m.tokens));
    m.close = xcalloc(m.tokens.count, sizeof *m.close);
    memset(m.close, 0xff, m.tokens.count * sizeof *m.close); /* what other tokens left there */
    token_match(&m.tokens, 0, m.close);
    return m;
}

static void lose(struct matched *m)
{
    token_parser_free(m->parser);
    free(m->text);
    free(m->close);
}

/* `expected` has a letter for each token: that of a closing bracket is the opening one's in upper case. */
static void assert_closes(const char *json, const char *expected)
{
    struct matched m = match(json);
    assert_int_equal(m.tokens.count, strlen(expected));
    for (size_t i = 0; i < m.tokens.count; i++) {
        if (expected[i] < 'a' || expected[i] > 'z') continue;
        const char *end = strchr(expected, expected[i] - 'a' + 'A');
        assert_int_equal(m.close[i], end ? end - expected : 0);
    }
    lose(&m);
}

static void test_brackets_within_one_another(void **state)
{
    assert_closes("{}", "aA");
    assert_closes("[{},[1,\"]\"]]", "abB-c---CA");
    assert_closes("{\"a\":{\"b\":[]}}", "a--b--cCBA");
    assert_closes("{} [] 5 {}", "aAbB-cC");
}

static void test_what_is_open_has_no_end(void **state)
{
    assert_closes("[{},[1", "abB-c-");
    assert_closes("{},{", "aA-b");
    assert_closes("]}{}", "--aA"); /* as of what began before */
}

static void test_brackets_of_two_kinds_close_nothing(void **state)
{
    assert_closes("[{} {] {}", "abBc-d-");
    assert_closes("[}", "a-");
}

static void test_what_is_nested_too_deep_stays_open(void **state)
{
    char json[2 * TOKEN_MATCH_DEPTH + 8] = "";
    for (size_t deep = TOKEN_MATCH_DEPTH; deep <= TOKEN_MATCH_DEPTH + 1; deep++) {
        memset(json, '[', deep);
        memset(json + deep, ']', deep);
        json[2 * deep] = '\0';
        struct matched m = match(json);
        assert_int_equal(m.close[0], deep == TOKEN_MATCH_DEPTH ? 2 * deep - 1 : 0);
        lose(&m);
    }
}

static void test_the_token_behind_a_value(void **state)
{
    struct matched m = match("[{\"a\":1},2,\"x\"]");
    static const size_t behind[] = {12, 6, 3, 0, 5, 0, 0, 8, 0, 10, 0};
    for (size_t i = 0; i < ARRAY_LEN(behind) && i < m.tokens.count; i++) {
        size_t expected = i == 0 ? m.tokens.count : behind[i];
        assert_int_equal(token_behind(&m.tokens, m.close, i), expected);
    }
    assert_int_equal(token_behind(&m.tokens, m.close, m.tokens.count), 0);
    lose(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brackets_within_one_another),
        cmocka_unit_test(test_what_is_open_has_no_end),
        cmocka_unit_test(test_brackets_of_two_kinds_close_nothing),
        cmocka_unit_test(test_what_is_nested_too_deep_stays_open),
        cmocka_unit_test(test_the_token_behind_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
