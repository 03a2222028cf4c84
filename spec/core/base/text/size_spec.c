/* core/base/text/size.c: sizes as users write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/size.h"

static void test_sizes_are_read(void **state)
{
    size_t size;
    assert_true(size_parse("1k", &size) && size == 1000);
    assert_true(size_parse("8Mi", &size) && size == 8388608);
    assert_true(size_parse("0.5Gi", &size) && size == 536870912);
    assert_true(size_parse("17", &size) && size == 17);
    assert_false(size_parse("8MB", &size));
    assert_false(size_parse("-1", &size));
    assert_false(size_parse("", &size));
    assert_false(size_parse("2000000G", &size));
}

static void assert_text(uint64_t bytes, const char *expected)
{
    struct buf text = {0};
    size_text(bytes, &text);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static void test_sizes_are_written_as_they_would_be_read(void **state)
{
    assert_text(0, "0");
    assert_text(1000, "1000");
    assert_text(64 << 20, "64Mi");
    assert_text(1536, "1536");
    assert_text(96 << 10, "96Ki");
    assert_text((uint64_t)4 << 30, "4Gi");
    assert_text((uint64_t)2 << 40, "2048Gi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_read),
        cmocka_unit_test(test_sizes_are_written_as_they_would_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
