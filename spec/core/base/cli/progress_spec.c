/* core/base/cli/progress.c: how far a long work is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/cli/progress.h"
#include "base/clock.h"

static const int64_t an_hour_ns = (int64_t)3600 * 1000000000;

static void assert_line(const struct progress_state *state, const char *expected)
{
    struct buf line = {0};
    progress_line(&line, state);
    assert_string_equal(buf_text(&line), expected);
    buf_clear(&line);
}

static void test_a_line_has_amount_speed_and_remaining_time(void **state)
{
    assert_line(&(const struct progress_state){"Auditing", 45000, 100000, -1, 5500, 0},
                "Auditing [#########-----------] 45 %, 45,000 of 100,000 objects, 8,181/s, 7 s left");
    assert_line(&(const struct progress_state){"Auditing", 0, 100, -1, 0, 0},
                "Auditing [--------------------] 0 %, 0 of 100 objects");
    assert_line(&(const struct progress_state){"Auditing", 100, 100, -1, 2000, 0},
                "Auditing [####################] 100 %, 100 of 100 objects, 50/s");
    assert_line(&(const struct progress_state){"Auditing", 1234567, 0, -1, 1000, 0},
                "Auditing 1,234,567 objects, 1,234,567/s");
    assert_line(&(const struct progress_state){"Auditing", 10, 0, 0.5, 10, 0},
                "Auditing [##########----------] 50 %, 10 objects");
    /* objects may come while one counts */
    assert_line(&(const struct progress_state){"Auditing", 200, 100, -1, 0, 0},
                "Auditing [####################] 100 %, 200 of 100 objects");
}

static void test_a_narrow_terminal_has_no_bar_and_no_second_line(void **state)
{
    assert_line(&(const struct progress_state){"Auditing", 45000, 100000, -1, 5500, 50},
                "Auditing 45 %, 45,000 of 100,000 objects, 8,181/s,");
    assert_line(&(const struct progress_state){"Auditing", 45000, 100000, -1, 5500, 12}, "Auditing 45 ");
}

static void test_a_step_is_drawn_on_a_terminal_and_not_too_often(void **state)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct progress progress = {.out = out, .what = "Auditing", .total = 10, .width = 80};
    progress.begun_ns = clock_measure_ns() - (int64_t)2000 * 1000000;
    progress_step(&progress, 5, -1);
    progress.drawn_ns += an_hour_ns; /* so that no machine is slow enough for the next one to be due */
    progress_step(&progress, 6, -1);
    progress_clear(&progress); /* somebody writes a line */
    progress_end(&progress);
    progress_step(&progress, 7, -1);
    fclose(out);
    assert_string_equal(
        text, "\rAuditing [##########----------] 50 %, 5 of 10 objects, 2/s, 3 s left\033[K\r\033[K\r\033[K");
    free(text);
}

static void test_what_is_done_at_once_is_not_drawn(void **state)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct progress progress = {.out = out, .what = "Auditing", .width = 80};
    progress.begun_ns = clock_measure_ns() + an_hour_ns;
    progress_step(&progress, 5, -1);
    progress_end(&progress);
    fclose(out);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_has_amount_speed_and_remaining_time),
        cmocka_unit_test(test_a_narrow_terminal_has_no_bar_and_no_second_line),
        cmocka_unit_test(test_a_step_is_drawn_on_a_terminal_and_not_too_often),
        cmocka_unit_test(test_what_is_done_at_once_is_not_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
