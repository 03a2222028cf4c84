/* core/base/time/piece_meter.c: CPU time of pieces, and the stage in which a long one was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <time.h>

#include "base/time/piece_meter.h"

static int64_t thread_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void compute(int64_t ms)
{
    int64_t end_ns = thread_ns() + ms * 1000000;
    while (thread_ns() < end_ns) continue;
}

static void test_a_piece_says_in_which_stage_it_was_longest(void **state)
{
    struct piece_meter meter = {.of = "spec"};
    piece_begin(&meter);
    assert_null(piece_enter(&meter, "short"));
    compute(1);
    assert_string_equal(piece_enter(&meter, "long"), "short");
    compute(6);
    assert_string_equal(piece_enter(&meter, "short"), "long");
    compute(1);
    piece_end(&meter);
    assert_string_equal(meter.longest_stage.name, "long");
    assert_true(meter.longest_stage.ns >= 6000000);
    assert_true(meter.longest_ns >= 8000000);
    assert_int_equal(meter.pieces, 1);
}

/* The time that others have the core does not count. */
static void test_a_piece_has_had_cpu_time_and_not_time(void **state)
{
    struct piece_meter meter = {.of = "spec"};
    piece_begin(&meter);
    assert_false(piece_has_had(&meter, 2000));
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    assert_false(piece_has_had(&meter, 2000));
    compute(2);
    assert_true(piece_has_had(&meter, 2000));
    piece_end(&meter);
    assert_false(piece_has_had(&meter, 2000));
}

static void test_pieces_begin_without_a_stage(void **state)
{
    struct piece_meter meter = {.of = "spec"};
    piece_begin(&meter);
    piece_enter(&meter, "a stage");
    piece_end(&meter);
    piece_begin(&meter);
    compute(1);
    piece_end(&meter);
    assert_null(meter.longest_stage.name);
    assert_int_equal(meter.pieces, 2);
}

static void test_outside_of_pieces_there_are_no_stages(void **state)
{
    struct piece_meter meter = {.of = "spec"};
    assert_null(piece_enter(NULL, "a stage"));
    assert_null(piece_enter(&meter, "a stage"));
    piece_begin(&meter);
    assert_null(piece_enter(&meter, NULL));
    piece_end(&meter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_piece_says_in_which_stage_it_was_longest),
        cmocka_unit_test(test_a_piece_has_had_cpu_time_and_not_time),
        cmocka_unit_test(test_pieces_begin_without_a_stage),
        cmocka_unit_test(test_outside_of_pieces_there_are_no_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
