/* core/object/selector: label selectors as the API server reads them (contract X-1..X-5). */
#include "core/object/support/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/value/label.h"
#include "object/value/selector.h"

static struct selector *parse(const char *text)
{
    struct err err;
    struct selector *selector = selector_parse(str_of(text), &err);
    if (!selector) fail_msg("%s", err.text);
    return selector;
}

static bool selects(void **state, const char *text, const char *labels)
{
    struct fixture *f = *state;
    struct value it;
    struct root *root = pack_it(f->packer, labels, &it);
    struct selector *selector = parse(text);
    bool matches = selector_matches(selector, it);
    selector_free(selector);
    root_unref(root);
    return matches;
}

struct match {
    const char *selector, *labels;
    bool matches;
};

static void check(void **state, const struct match *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (selects(state, cases[i].selector, cases[i].labels) != cases[i].matches) {
            fail_msg("'%s' and %s", cases[i].selector, cases[i].labels);
        }
    }
}

/* */
static void test_every_operator(void **state)
{
    static const struct match cases[] = {
        {"", "{}", true},
        {"", "{\"a\":\"b\"}", true},
        {"x=y", "{\"x\":\"y\"}", true},
        {"x=y", "{\"x\":\"z\"}", false},
        {"x==y", "{\"x\":\"y\"}", true},
        {"x!=y", "{\"x\":\"z\"}", true},
        {"x!=y", "{\"x\":\"y\"}", false},
        {"x in (a,b)", "{\"x\":\"b\"}", true},
        {"x in (a,b)", "{\"x\":\"c\"}", false},
        {"x notin (a,b)", "{\"x\":\"c\"}", true},
        {"x notin (a,b)", "{\"x\":\"a\"}", false},
        {"x", "{\"x\":\"\"}", true},
        {"x", "{\"y\":\"\"}", false},
        {"!x", "{\"y\":\"\"}", true},
        {"!x", "{\"x\":\"\"}", false},
        {"x>5", "{\"x\":\"6\"}", true},
        {"x>5", "{\"x\":\"5\"}", false},
        {"x<5", "{\"x\":\"4\"}", true},
        {"x<5", "{\"x\":\"5\"}", false},
        {"x>5", "{\"x\":\"10\"}", true},
        {"x>9223372036854775806", "{\"x\":\"9223372036854775807\"}", true},
        {"x=a,y=b", "{\"x\":\"a\",\"y\":\"b\"}", true},
        {"x=a,y=b", "{\"x\":\"a\"}", false},
        {"x=a,x=b", "{\"x\":\"a\"}", false},
        {"app.kubernetes.io/name=web", "{\"app.kubernetes.io/name\":\"web\"}", true},
        {"x in (a-long-value-that-is-no-inline-string,b)",
         "{\"x\":\"a-long-value-that-is-no-inline-string\"}", true},
    };
    check(state, cases, ARRAY_LEN(cases));
}

/* */
static void test_an_absent_key(void **state)
{
    static const struct match cases[] = {
        {"x!=y", "{}", true},
        {"x notin (y)", "{}", true},
        {"x=y", "{}", false},
        {"x==", "{}", false},
        {"x in (y)", "{}", false},
        {"x in ()", "{}", false},
        {"x>1", "{}", false},
        {"x<1", "{}", false},
        {"x!=y", "null", true},
        {"x", "null", false},
        {"!x", "null", true},
        {"x>1", "{\"x\":\"two\"}", false},
        {"x<9", "{\"x\":\"\"}", false},
        {"x<9", "{\"x\":\"1.5\"}", false},
        {"x<9", "{\"x\":\"9223372036854775808\"}", false},
        {"x<9", "{\"x\":\"-3\"}", true},
        {"x<9", "{\"x\":\"+3\"}", true},
        {"x<9", "{\"x\":\"-9223372036854775808\"}", true},
        {"x<9", "{\"x\":\"-9223372036854775809\"}", false},
    };
    check(state, cases, ARRAY_LEN(cases));
    struct selector *none = parse("!x,y!=z");
    assert_true(selector_matches(none, value_absent));
    selector_free(none);
}

/* */
static void test_empty_values_and_blanks(void **state)
{
    static const struct match cases[] = {
        {"x in ()", "{\"x\":\"\"}", true},        {"x in (a,)", "{\"x\":\"\"}", true},
        {"x in (,a)", "{\"x\":\"\"}", true},      {"x in (a,,b)", "{\"x\":\"\"}", true},
        {"x in (a,,)", "{\"x\":\"a\"}", true},    {"x in (,,)", "{\"x\":\"\"}", true},
        {"x in (a,,,)", "{\"x\":\"\"}", true},    {"x in (,,,b)", "{\"x\":\"b\"}", true},
        {"x notin ()", "{\"x\":\"\"}", false},    {"x=", "{\"x\":\"\"}", true},
        {"x=", "{\"x\":\"a\"}", false},           {"x=,y", "{\"x\":\"\",\"y\":\"1\"}", true},
        {" x \t=\r\n y ", "{\"x\":\"y\"}", true}, {"x in\t( a ,\n b )", "{\"x\":\"b\"}", true},
        {"in=notin", "{\"in\":\"notin\"}", true}, {"in in (in,notin)", "{\"in\":\"in\"}", true},
        {"notin", "{\"notin\":\"\"}", true},      {"x=in", "{\"x\":\"in\"}", true},
        {"!in", "{\"x\":\"in\"}", true},
    };
    check(state, cases, ARRAY_LEN(cases));
}

/* */
static void test_canonical_text(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"  ", ""},
        {"z,a=b", "a=b,z"},
        {"x in (b, a ,b)", "x in (a,b)"},
        {"x notin ( )", "x notin ()"},
        {"x in (,)", "x in ()"},
        {"x in (a,)", "x in (,a)"},
        {"x == y", "x==y"},
        {"! x", "!x"},
        {"x > 1 , x < 5", "x>1,x<5"},
        {"b=2,a=1,b!=3", "a=1,b=2,b!=3"},
        {"x notin (abc,,def),bar,z in (),w", "bar,w,x notin (,abc,def),z in ()"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct selector *selector = parse(cases[i][0]);
        assert_true(str_is(selector_text(selector), cases[i][1]));
        struct selector *again = parse(cases[i][1]);
        assert_true(str_is(selector_text(again), cases[i][1]));
        assert_int_equal(selector_is_everything(selector), cases[i][1][0] == '\0');
        selector_free(again);
        selector_free(selector);
    }
}

/* */
static void test_invalid_selectors_are_named(void **state)
{
#define LONG63 "a23456789012345678901234567890123456789012345678901234567890123"
    static const char *const cases[][2] = {
        {"x=a||y=b", "value 'a||y' of 'x'"},
        {"x==a==b", "found '==', expected: ',' or 'end of string'"},
        {"!x=a", "found '=', expected: ',' or 'end of string'"},
        {"x<a", "'a' after '<' is not an integer"},
        {"x>", "'' after '>' is not an integer"},
        {"x>9223372036854775808", "'9223372036854775808' after '>' is not an integer"},
        {"x,,y", "found ',', expected: identifier after ','"},
        {",x", "found ',', expected: !, identifier, or 'end of string'"},
        {"x,", "found '', expected: identifier after ','"},
        {"x,in,", "found '', expected: identifier after ','"},
        {"x in (a b)", "found 'b', expected: ',' or ')'"},
        {"x in (a", "found '', expected: ',' or ')'"},
        {"x in (", "found '', expected: ',', ')' or identifier"},
        {"x in a", "found 'a', expected: '('"},
        {"x in", "found '', expected: '('"},
        {"x in (a))", "found ')', expected: ',' or 'end of string'"},
        {"x in ((a)", "found '(', expected: ',', ')' or identifier"},
        {"x in (a,!)", "found '!', expected: ',', or identifier"},
        {"x in (,,", "found '', expected: ',', or identifier"},
        {"x in (a,,!)", "found '!', expected: ',', or identifier"},
        {"x notin", "found '', expected: '('"},
        {"x y", "found 'y', expected: in, notin, =, ==, !=, >, <"},
        {"x!", "found '!', expected: in, notin, =, ==, !=, >, <"},
        {"x(", "found '(', expected: in, notin, =, ==, !=, >, <"},
        {"x=a b", "found 'b', expected: ',' or 'end of string'"},
        {"x=!", "found '!', expected: identifier"},
        {"!", "found '', expected: identifier"},
        {"!!x", "found '!', expected: identifier"},
        {"=a", "found '=', expected: !, identifier, or 'end of string'"},
        {"x=a$", "value 'a$' of 'x'"},
        {"x=-a", "value '-a' of 'x'"},
        {"x=" LONG63 "4", "value must have at most 63 characters"},
        {LONG63 "4=a", "the name exceeds 63 characters"},
        {"a_=b", "key 'a_'"},
        {"a/b/c=d", "key 'a/b/c'"},
        {"/b", "the prefix before / is empty"},
        {"a/", "the name is empty"},
        {"A/b", "the prefix before / is not a DNS name (lower-case letters, digits, - and ."},
        {"a..b/c", "the prefix before / is not a DNS name (lower-case letters, digits, - and ."},
        {"-a.b/c", "the prefix before / is not a DNS name (lower-case letters, digits, - and ."},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;
        struct selector *selector = selector_parse(str_of(cases[i][0]), &err);
        if (selector) fail_msg("accepted: %s", cases[i][0]);
        assert_int_equal(err.code, ERR_INVALID);
        char *start = xasprintf("selector \"%s\": ", cases[i][0]);
        assert_memory_equal(err.text, start, strlen(start));
        if (!strstr(err.text, cases[i][1])) fail_msg("%s\n    lacks: %s", err.text, cases[i][1]);
        free(start);
    }
}

static void test_the_place_of_what_is_wrong(void **state)
{
    static const char *const cases[][2] = {{"x==a==b", "character 5: found '=='"},
                                           {"a=1, x y", "character 8: found 'y'"},
                                           {"x in (a", "character 8: found ''"},
                                           {"a=1,x>", "character 7: '' after '>'"},
                                           {"a in (b, c$)", "character 10: value 'c$' of 'a'"},
                                           {"a=1, b_=2", "character 6: key 'b_'"},
                                           {"  ,x", "character 3: found ','"},
                                           {"x  >  y , z", "character 7: 'y' after '>'"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        selector_free(selector_parse(str_of(cases[i][0]), &err));
        char *start = xasprintf("selector \"%s\": %s", cases[i][0], cases[i][1]);
        assert_memory_equal(err.text, start, strlen(start));
        free(start);
    }
}

static void test_longest_keys_and_values(void **state)
{
    char prefix[260];
    memset(prefix, 'p', sizeof prefix); /* one DNS label of any length up to 253 in all */
    prefix[253] = '\0';
    char *text = xasprintf("%s/" LONG63 "=" LONG63, prefix);
    selector_free(parse(text));
    free(text);
    prefix[253] = 'p';
    prefix[254] = '\0';
    text = xasprintf("%s/a", prefix);
    struct err err;
    assert_null(selector_parse(str_of(text), &err));
    assert_non_null(strstr(err.text, "the prefix before / exceeds 253 characters"));
    free(text);
}

/* Takes minutes when something in it is quadratic. */
static void test_a_very_long_selector(void **state)
{
    enum { COUNT = 100000 };
    struct buf text = {0};
    for (int i = COUNT; i > 0; i--) buf_printf(&text, "k%06d!=v%d,", i, i);
    buf_puts(&text, "x in (");
    for (int i = COUNT; i > 0; i--) buf_printf(&text, "v%06d%s", i, i > 1 ? "," : ")");
    struct selector *selector = parse(buf_text(&text));
    assert_memory_equal(selector_text(selector).p, "k000001!=v1,k000002!=v2,", 24);
    assert_int_equal(selector_text(selector).n, text.len);
    selector_free(selector);
    buf_clear(&text);
    assert_true(selects(state, "x=1,a=2,x!=3,b=4,x", "{\"x\":\"1\",\"a\":\"2\",\"b\":\"4\"}"));
}

static void test_label_validity(void **state)
{
    assert_null(label_key_fault(STR("a")));
    assert_null(label_key_fault(STR("A.b_c-9")));
    assert_null(label_key_fault(STR("x.y-z.0/A_b")));
    assert_non_null(label_key_fault(STR("")));
    assert_non_null(label_key_fault(STR("a b")));
    assert_non_null(label_key_fault(STR("é")));
    assert_null(label_value_fault(STR("")));
    assert_null(label_value_fault(STR("1.2-3_b")));
    assert_non_null(label_value_fault(STR(".a")));
    assert_non_null(label_value_fault(STR("a/b")));
}

static void test_a_label_that_is_no_string(void **state)
{
    static const struct match cases[] = {
        {"x", "{\"x\":5}", true},
        {"x=5", "{\"x\":5}", false},
        {"x!=5", "{\"x\":5}", true},
        {"x>1", "{\"x\":5}", false},
    };
    check(state, cases, ARRAY_LEN(cases));
}

static void assert_contradiction(const char *text, const char *key)
{
    struct selector *selector = parse(text);
    struct str found = selector_contradiction(selector);
    if (!key != !found.p || (key && !str_is(found, key)))
        fail_msg("%s: \"%.*s\" instead of \"%s\"", text, STR_ARG(found), key ? key : "");
    selector_free(selector);
}

static void test_what_contradicts_itself(void **state)
{
    static const struct {
        const char *text, *key;
    } cases[] = {
        {"", NULL},
        {"a=1,b=2", NULL},
        {"a=1,a=2", "a"},
        {"a=1,a==1", NULL},
        {"z,a=1,b=2,a=2", "a"},
        {"a,!a", "a"},
        {"!a,a=1", "a"},
        {"!a,a!=1", NULL},
        {"!a,a notin (1,2)", NULL},
        {"a in (1,2),a notin (1,2,3)", "a"},
        {"a in (1,2),a notin (1)", NULL},
        {"a in (1,2),a in (2,3)", NULL},
        {"a in (1,2),a in (3)", "a"},
        {"a=,a!=", "a"},
        {"a,a!=1,a!=2", NULL},
        {"a>3,a<5", NULL},
        {"a>3,a<4", "a"},
        {"a>3,a<3", "a"},
        {"a>3,a=2", "a"},
        {"a>3,a in (2,x,7)", NULL},
        {"a<3,a in (x,7)", "a"},
        {"a>3,!a", "a"},
        {"a>9223372036854775807", "a"},
        {"a>9223372036854775806", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_contradiction(cases[i].text, cases[i].key);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_every_operator),
        TEST(test_what_contradicts_itself),
        TEST(test_an_absent_key),
        TEST(test_empty_values_and_blanks),
        TEST(test_canonical_text),
        TEST(test_invalid_selectors_are_named),
        TEST(test_the_place_of_what_is_wrong),
        TEST(test_longest_keys_and_values),
        TEST(test_a_very_long_selector),
        TEST(test_label_validity),
        TEST(test_a_label_that_is_no_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
