/* Times of RFC 3339, written and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/civil.h"
#include "base/mem.h"

static void assert_written(int64_t time_us, int digits, const char *expected)
{
    struct buf text = {0};
    civil_put_utc(&text, time_us, digits);
    assert_string_equal(buf_text(&text), expected);
    buf_clear(&text);
}

static void test_a_time_is_written_in_utc(void **state)
{
    assert_written(INT64_C(1767225600000000), 0, "2026-01-01T00:00:00Z");
    assert_written(INT64_C(1767225600001234), 3, "2026-01-01T00:00:00.001Z");
    assert_written(INT64_C(1767225600001234), 6, "2026-01-01T00:00:00.001234Z");
    assert_written(-1, 0, "1969-12-31T23:59:59Z");
    assert_written(-1, 6, "1969-12-31T23:59:59.999999Z");
}

static void test_times_are_read_with_fractions_and_offsets(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } good[] = {{"2026-01-01T00:00:00Z", 1767225600},      {"2026-01-01T00:00:00.999999Z", 1767225600},
                {"2026-01-01T02:30:00+02:30", 1767225600}, {"2025-12-31T23:00:00-01:00", 1767225600},
                {"2026-01-01t00:00:00z", 1767225600},      {"2024-02-29T00:00:00Z", 1709164800},
                {"2000-02-29T00:00:00Z", 951782400},       {"1969-12-31T23:59:59Z", -1}};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t seconds = 0;
        assert_true(civil_read_utc(str_of(good[i].text), &seconds));
        assert_int_equal(seconds, good[i].seconds);
    }
}

static void test_microseconds_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t time_us;
    } good[] = {{"1970-01-01T00:00:01Z", 1000000},
                {"1970-01-01T00:00:00.25Z", 250000},
                {"1970-01-01T02:00:00.5+02:00", 500000},
                {"1970-01-01T00:00:00.1234567Z", 123456},
                {"1969-12-31T23:59:59.75-00:00", -250000}};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t time_us = 0, seconds = 0;
        assert_true(civil_read_utc_us(str_of(good[i].text), &time_us));
        assert_int_equal(time_us, good[i].time_us);
        assert_true(civil_read_utc(str_of(good[i].text), &seconds));
        assert_int_equal(seconds, floor_div(good[i].time_us, 1000000));
    }
}

static void test_what_is_no_time_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "2026-01-01",
                                      "2026-01-01T00:00:00",
                                      "2026-01-01 00:00:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-02-31T00:00:00Z",
                                      "2026-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2026-00-10T00:00:00Z",
                                      "2026-01-00T00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00Zx",
                                      "2026-01-01T00:00:00+2",
                                      "2026-01-01T00:00:00+24:00",
                                      "2026-01-01T00:00:00-02:60",
                                      "2026-01-01T00:00:00,5Z",
                                      "2026-01-01T00:00:00+02:00x"};
    int64_t seconds;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(civil_read_utc(str_of(bad[i]), &seconds));
    assert_false(civil_read_utc((struct str){0}, &seconds));
    assert_false(civil_read_utc((struct str){"2026-01-01T00:00:00Z\0", 21}, &seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_time_is_written_in_utc),
        cmocka_unit_test(test_times_are_read_with_fractions_and_offsets),
        cmocka_unit_test(test_microseconds_are_read),
        cmocka_unit_test(test_what_is_no_time_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
