/* core/object/tape: small documents read from the tape. */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/parse/tape.h"

static struct tape_parser *parser;
static struct tape tape;

static int setup(void **state)
{
    parser = tape_parser_new();
    return 0;
}

static int teardown(void **state)
{
    tape_parser_free(parser);
    return 0;
}

/* In memory that ends with the padding, so that reading beyond it would be seen. */
static size_t parse(const char *json)
{
    size_t len = strlen(json);
    char *text = xcalloc(1, len + TAPE_PADDING);
    struct err err;
    memcpy(text, json, len);
    if (!tape_parse(parser, text, len, &tape, &err)) fail_msg("%s", err.text);
    free(text);
    return tape_root(&tape);
}

static void test_fields_by_name(void **state)
{
    size_t root = parse("{\"kind\":\"Status\",\"code\":410,\"ok\":true,\"no\":false,\"none\":null,\"big\":-"
                        "9007199254740993,\"x\":1.5,\"details\":{\"causes\":[{\"reason\":\"R\"}]}}");
    assert_int_equal(tape_type(&tape, root), '{');
    assert_true(str_is(tape_str(&tape, tape_field(&tape, root, STR("kind"))), "Status"));
    assert_int_equal(tape_int(&tape, tape_field(&tape, root, STR("code")), -1), 410);
    assert_true(tape_int(&tape, tape_field(&tape, root, STR("big")), 0) == -9007199254740993);
    assert_true(tape_bool(&tape, tape_field(&tape, root, STR("ok")), false));
    assert_false(tape_bool(&tape, tape_field(&tape, root, STR("no")), true));
    assert_int_equal(tape_type(&tape, tape_field(&tape, root, STR("none"))), 'n');
    assert_int_equal(tape_type(&tape, tape_field(&tape, root, STR("x"))), 'd');
    size_t causes = tape_field(&tape, tape_field(&tape, root, STR("details")), STR("causes"));
    size_t first = tape_first(&tape, causes, NULL);
    assert_true(str_is(tape_str(&tape, tape_field(&tape, first, STR("reason"))), "R"));
    assert_int_equal(tape_next(&tape, causes, first, NULL), 0);
}

static void test_what_is_missing_is_nothing(void **state)
{
    size_t root = parse("{\"a\":[],\"b\":{}}");
    assert_int_equal(tape_field(&tape, root, STR("c")), 0);
    assert_int_equal(tape_type(&tape, 0), 0);
    assert_null(tape_str(&tape, 0).p);
    assert_null(tape_str(&tape, root).p);
    assert_int_equal(tape_int(&tape, 0, 7), 7);
    assert_true(tape_bool(&tape, root, true));
    assert_int_equal(tape_first(&tape, 0, NULL), 0);
    assert_int_equal(tape_first(&tape, tape_field(&tape, root, STR("a")), NULL), 0);
    assert_int_equal(tape_first(&tape, tape_field(&tape, root, STR("b")), NULL), 0);
    assert_int_equal(tape_field(&tape, 0, STR("a")), 0);
    assert_int_equal(tape_field(&tape, tape_field(&tape, root, STR("a")), STR("a")), 0);
}

static void test_walking_over_values_of_every_type(void **state)
{
    size_t root = parse("{\"a\":{\"x\":[1,2,{}]},\"b\":[[],[1.5]],\"c\":\"t\",\"d\":18446744073709551615,"
                        "\"e\":-1,\"f\":0.5,\"g\":true,\"h\":null,\"i\":9}");
    struct str key;
    char seen[16] = "", types[16] = "";
    size_t count = 0;
    for (size_t v = tape_first(&tape, root, &key); v; v = tape_next(&tape, root, v, &key), count++) {
        seen[count] = key.p[0];
        types[count] = tape_type(&tape, v);
    }
    assert_string_equal(seen, "abcdefghi");
    assert_string_equal(types, "{[\"uldtnl");
}

static void test_of_equal_keys_the_last_counts(void **state)
{
    size_t root = parse("{\"a\":1,\"b\":2,\"a\":3}");
    assert_int_equal(tape_int(&tape, tape_field(&tape, root, STR("a")), 0), 3);
}

static void test_a_document_need_not_be_an_object(void **state)
{
    assert_true(str_is(tape_str(&tape, parse("\"text\"")), "text"));
    assert_int_equal(tape_int(&tape, parse("12"), 0), 12);
    assert_int_equal(tape_type(&tape, parse("[]")), '[');
}

/* The parser gives up what a large document made it take, and goes on. */
static void test_small_after_large(void **state)
{
    struct buf text = {0};
    buf_putc(&text, '[');
    for (int i = 0; i < 400000; i++) buf_printf(&text, "%s\"%d\"", i ? "," : "", i);
    buf_putc(&text, ']');
    for (int i = 0; i < 3; i++) {
        size_t count = 0, root = parse(buf_text(&text));
        for (size_t v = tape_first(&tape, root, NULL); v; v = tape_next(&tape, root, v, NULL)) count++;
        assert_int_equal(count, 400000);
        assert_int_equal(tape_int(&tape, parse("7"), 0), 7);
    }
    buf_clear(&text);
}

static void test_nul_bytes_are_found_wherever_they_are(void **state)
{
    static const char *const with[] = {"\"\\u0000\"", "[1,2.5,18446744073709551615,\"a\\u0000b\"]",
                                       "{\"a\":{\"b\":[{\"c\":[\"\",\"x\\u0000\"]}]}}",
                                       "{\"a\":{\"k\\u0000\":null}}"};
    static const char *const without[] = {"0", "\"\"", "[]",
                                          "{\"a\":[0,-1,0.0,\"\\u0001\",\"\\\\u0000\",null,true]}"};
    for (size_t i = 0; i < ARRAY_LEN(with); i++) assert_true(tape_has_nul(&tape, parse(with[i])));
    for (size_t i = 0; i < ARRAY_LEN(without); i++) assert_false(tape_has_nul(&tape, parse(without[i])));
    size_t root = parse("{\"a\":[\"x\"],\"b\":\"\\u0000\",\"c\":{}}");
    assert_false(tape_has_nul(&tape, tape_field(&tape, root, STR("a"))));
    assert_true(tape_has_nul(&tape, tape_field(&tape, root, STR("b"))));
    assert_false(tape_has_nul(&tape, tape_field(&tape, root, STR("c"))));
    assert_false(tape_has_nul(&tape, 0));
}

/* As in client-go, whose objects have int64 or float64 (H-19). */
static void test_integers_beyond_64_bits_are_doubles(void **state)
{
    static const struct {
        const char *json;
        char type;
        double number;
    } cases[] = {
        {"18446744073709551615", 'u', 0},
        {"-9223372036854775808", 'l', 0},
        {"18446744073709551616", 'd', 18446744073709551616.0},
        {"18446744073709552000", 'd', 18446744073709551616.0},
        {"-9223372036854775809", 'd', -9223372036854775808.0},
        {"[\"x\\\"99999999999999999999\",99999999999999999999]", 'd', 1e20},
        {"[1e-1,1e-99999999999999999999,100000000000000000000 ]", 'd', 1e20},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        double number;
        size_t at = parse(cases[i].json), last = at;
        for (size_t v = tape_first(&tape, at, NULL); v; v = tape_next(&tape, at, v, NULL)) last = v;
        assert_int_equal(tape_type(&tape, last), cases[i].type);
        memcpy(&number, &tape.words[last + 1], sizeof number);
        if (cases[i].type == 'd') assert_true(number == cases[i].number);
    }
    assert_true(str_is(
        tape_str(&tape, tape_field(&tape, parse("{\"a\":99999999999999999999,\"b\":\"9\"}"), STR("b"))),
        "9"));
}

static void test_errors(void **state)
{
    static const char *const cases[][2] = {
        {"", "invalid JSON: empty text"},
        {"{", "invalid JSON: malformed structure"},
        {"{\"a\":1,}", "invalid JSON: malformed structure"},
        {"[1 2]", "invalid JSON: malformed structure"},
        {"[\"a\"\f]", "invalid JSON: malformed structure"}, /* a mark on some processors, none on others */
        {"{} {}", "invalid JSON: malformed structure"},
        {"\"a", "invalid JSON: a string does not end"},
        {"\"\\q\"", "invalid JSON: a string is malformed"},
        {"\"\n\"", "invalid JSON: a control character inside a string"},
        {"[\"\xc3\"]", "invalid JSON: bytes that are not UTF-8"},
        {"[truu]", "invalid JSON: a malformed true, false or null"},
        {"[1e999]", "invalid JSON: a number is malformed or out of range"},
        {"[9223372036854775808000,01]", "invalid JSON: a number is malformed or out of range"},
        {"[01]", "invalid JSON: a number is malformed or out of range"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[128 + TAPE_PADDING] = {0};
        struct err err;
        strcpy(text, cases[i][0]);
        if (tape_parse(parser, text, strlen(text), &tape, &err)) fail_msg("accepted: %s", text);
        assert_string_equal(err.text, cases[i][1]);
        assert_int_equal(err.code, ERR_PARSE);
    }
    assert_int_equal(tape_int(&tape, parse("5"), 0), 5);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_fields_by_name),
        TEST(test_what_is_missing_is_nothing),
        TEST(test_walking_over_values_of_every_type),
        TEST(test_of_equal_keys_the_last_counts),
        TEST(test_a_document_need_not_be_an_object),
        TEST(test_small_after_large),
        TEST(test_integers_beyond_64_bits_are_doubles),
        TEST(test_errors),
        TEST(test_nul_bytes_are_found_wherever_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
