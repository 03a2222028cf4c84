/* core/object/equal: same content, whatever the encoding. */
#include "core/object/support/objects.h"

#include <stdlib.h>

#include "base/mem.h"

static bool equal(void **state, const char *a, const char *b)
{
    struct fixture *f = *state;
    struct value va, vb;
    struct root *ra = pack_it(f->packer, a, &va), *rb = pack_it(f->packer, b, &vb);
    bool same = value_equal(va, vb);
    assert_int_equal(same, value_equal(vb, va));
    assert_true(value_equal(va, va));
    root_unref(ra);
    root_unref(rb);
    return same;
}

static void test_equal_values(void **state)
{
    static const char *const pairs[][2] = {
        {"null", "null"},
        {"1.50", "15e-1"},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"},
        {"{\"a\":{\"x\":[1,2,{\"y\":\"z\",\"w\":null}]}}", "{\"a\":{\"x\":[1,2,{\"w\":null,\"y\":\"z\"}]}}"},
        {"{\"k:{}\":1,\"a\":\"some text\"}", "{\"a\":\"some text\",\"k:{}\":1}"},
        {"\"\\u0041bcd\"", "\"Abcd\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (!equal(state, pairs[i][0], pairs[i][1])) fail_msg("%s and %s", pairs[i][0], pairs[i][1]);
    }
}

static void test_different_values(void **state)
{
    static const char *const pairs[][2] = {
        {"null", "false"},
        {"true", "false"},
        {"1", "1.0"},
        {"1", "\"1\""},
        {"1", "2"},
        {"4611686018427387904", "4611686018427387905"},
        {"{}", "[]"},
        {"{}", "{\"a\":null}"},
        {"[]", "[null]"},
        {"[1,2]", "[2,1]"},
        {"\"abc\"", "\"abd\""},
        {"\"Running\"", "\"Pending\""},
        {"{\"a\":1}", "{\"b\":1}"},
        {"\"\"", "null"},
        {"{\"a\":1,\"b\":1}", "{\"a\":1,\"c\":1}"},
        {"9223372036854775807", "9223372036854775808"},
        {"{\"k:{}\":1}", "{\"k:{a}\":1}"},
        {"\"2026-11-01T10:00:00Z\"", "\"2026-11-01T10:00:00.000000Z\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (equal(state, pairs[i][0], pairs[i][1])) fail_msg("%s and %s", pairs[i][0], pairs[i][1]);
    }
}

static char *large(bool backwards, int odd)
{
    enum { KEYS = 20000 };
    struct buf text = {0};
    buf_putc(&text, '{');
    for (int i = 0; i < KEYS; i++) {
        int n = backwards ? KEYS - 1 - i : i;
        buf_printf(&text, "%s\"k:{%d}\":%d", i ? "," : "", n, n == odd ? -1 : n);
    }
    buf_putc(&text, '}');
    return buf_take(&text);
}

/* Takes minutes when it is quadratic. */
static void test_large_maps_in_another_order(void **state)
{
    char *forwards = large(false, -1), *backwards = large(true, -1), *odd = large(true, 7);
    assert_true(equal(state, forwards, backwards));
    assert_false(equal(state, forwards, odd));
    free(forwards);
    free(backwards);
    free(odd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_equal_values),
        TEST(test_different_values),
        TEST(test_large_maps_in_another_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
