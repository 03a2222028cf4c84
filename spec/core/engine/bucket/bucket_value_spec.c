/* core/engine/bucket/bucket_value.c: values that are encoded come back as they were, and damaged ones are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/bucket/bucket_value.h"

enum { SIZE = 100000 };

static struct buf text, encoded, out;

static int setup(void **state)
{
    text.len = encoded.len = out.len = 0;
    for (int i = 0; i < SIZE; i++) buf_putc(&text, (char)('a' + i % 26));
    bucket_value_encode(buf_slice(&text), &encoded);
    return 0;
}

static int clear(void **state)
{
    buf_clear(&text);
    buf_clear(&encoded);
    buf_clear(&out);
    return 0;
}

static void assert_refused(struct str value, const char *encoding, size_t max, const char *why)
{
    struct err err = {.text = ""};
    assert_null(bucket_value_decode(value, encoding, max, &out, &err).p);
    if (!strstr(err.text, why)) fail_msg("%s", err.text);
}

static void test_a_value_comes_back(void **state)
{
    assert_true(encoded.len < SIZE / 100);
    struct str back = bucket_value_decode(buf_slice(&encoded), "zstd", SIZE, &out, NULL);
    assert_true(str_eq(back, buf_slice(&text)));
    /* One that is not encoded is returned as it is. */
    back = bucket_value_decode(buf_slice(&text), "", 10, &out, NULL);
    assert_ptr_equal(back.p, text.data);
    assert_int_equal(back.n, SIZE);
}

static void test_others_are_refused(void **state)
{
    struct str value = buf_slice(&encoded);
    assert_refused(value, "zstd", SIZE - 1, "exceeds 99999 bytes unpacked");
    assert_refused(value, "br", SIZE, "the encoding \"br\", which is unknown");
    assert_refused((struct str){value.p, value.n - 1}, "zstd", SIZE, "damaged");
    assert_refused(STR("{}"), "zstd", SIZE, "not one frame of zstd");
    assert_refused(STR(""), "zstd", SIZE, "not one frame of zstd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_value_comes_back, setup, clear),
        cmocka_unit_test_setup_teardown(test_others_are_refused, setup, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
