/* core/base/time/duration.c: durations as users write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/time/duration.h"

/* Go's durations, and numbers of seconds (C-13). */
static void test_durations_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {{"500ms", 500},
                 {"90s", 90000},
                 {"5m", 300000},
                 {"1h30m", 5400000},
                 {"2m3s", 123000},
                 {"1.5", 1500},
                 {"7", 7000},
                 {"0", 0},
                 {"0.1s", 100},
                 {"1h0.5ms", 3600001},
                 {"0.0001s", 1},
                 {"10ms", 10},
                 {"1.001ms", 2},
                 {"1m1m", 120000},
                 {"0.3", 300},
                 {"1000s", 1000000},
                 {"1500us", 2},
                 {"2000\u00b5s", 2},
                 {"3000\u03bcs", 3},
                 {"1ns", 1},
                 {"1m500000000ns", 60500},
                 {"7d", 604800000},
                 {"1d12h", 129600000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t ms = -1;
        assert_true(duration_parse_ms(str_of(cases[i].text), &ms));
        assert_int_equal(ms, cases[i].ms);
    }
}

static void test_anything_else_is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "5 s",
                                        "-5s",
                                        "+5s",
                                        "s",
                                        "1w",
                                        "1e3",
                                        "0x5",
                                        ".5s",
                                        "1.",
                                        "1.s",
                                        "5s ",
                                        "1m30",
                                        "inf",
                                        "nan",
                                        "5sm",
                                        "1..5s",
                                        "99999999999999h",
                                        "ms"};
    int64_t ms;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(duration_parse_ms(str_of(texts[i]), &ms));
    assert_false(duration_parse_ms((struct str){NULL, 0}, &ms));
}

static void test_numbers_are_seconds(void **state)
{
    int64_t ms;
    assert_true(duration_from_seconds(0.25, &ms) && ms == 250);
    assert_true(duration_from_seconds(0.1 + 0.2, &ms) && ms == 300);
    assert_true(duration_from_seconds(1e-6, &ms) && ms == 1);
    assert_true(duration_from_seconds(1e12, &ms) && ms == DURATION_MAX_MS);
    assert_false(duration_from_seconds(-1, &ms));
    assert_false(duration_from_seconds(NAN, &ms));
    assert_false(duration_from_seconds(INFINITY, &ms));
    assert_false(duration_from_seconds(1e13, &ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations_are_read),
        cmocka_unit_test(test_anything_else_is_refused),
        cmocka_unit_test(test_numbers_are_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
