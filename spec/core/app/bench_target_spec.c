/* core/app/bench_target.c and bench_result.c: medians, ratios of subjects, and whether a bound is kept. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/bench_target.h"

static void add(struct bench_results *results, const char *subject, size_t pods, enum bench_metric metric,
                double value)
{
    bench_result_add(bench_results_of(results, subject, pods, 3), metric, value);
}

/* A target by its figures. */
static double value_of(const struct bench_results *results, struct bench_figure figure,
                       struct bench_figure by, size_t pods)
{
    struct bench_target target = {"", figure, by, BENCH_TIMES, true, 4, pods, 3};
    return bench_target_value(&target, results, 10, 3);
}

static void test_the_median_is_the_middle_of_the_runs(void **state)
{
    struct bench_results results = {0};
    add(&results, "a", 10, BENCH_SYNC_CPU, 5);
    assert_true(bench_result_median(bench_results_find(&results, "a", 10, 3), BENCH_SYNC_CPU) == 5);
    add(&results, "a", 10, BENCH_SYNC_CPU, 1);
    assert_true(bench_result_median(bench_results_find(&results, "a", 10, 3), BENCH_SYNC_CPU) == 3);
    add(&results, "a", 10, BENCH_SYNC_CPU, 100);
    assert_true(bench_result_median(bench_results_find(&results, "a", 10, 3), BENCH_SYNC_CPU) == 5);
    add(&results, "a", 10, BENCH_SYNC_CPU, NAN);
    assert_true(bench_result_median(bench_results_find(&results, "a", 10, 3), BENCH_SYNC_CPU) == 5);
    assert_true(isnan(bench_result_median(bench_results_find(&results, "a", 10, 3), BENCH_STORM_CPU)));
    assert_null(bench_results_find(&results, "a", 11, 3));
    bench_results_clear(&results);
}

static void test_a_ratio_takes_the_best_of_several_subjects(void **state)
{
    static const struct bench_figure both = {"slow one|quick one", BENCH_SYNC_CPU},
                                     ours = {"kubelua", BENCH_SYNC_CPU};
    struct bench_results results = {0};
    add(&results, "kubelua", 10, BENCH_SYNC_CPU, 20);
    assert_true(isnan(value_of(&results, both, ours, 0)));
    add(&results, "slow one", 10, BENCH_SYNC_CPU, 160);
    assert_true(value_of(&results, both, ours, 0) == 8);
    add(&results, "quick one", 10, BENCH_SYNC_CPU, 80);
    assert_true(value_of(&results, both, ours, 0) == 4);
    bench_results_clear(&results);
}

static void test_a_target_of_other_data_looks_at_those(void **state)
{
    static const struct bench_figure ours = {"kubelua", BENCH_STEADY}, none = {0};
    struct bench_results results = {0};
    add(&results, "kubelua", 10, BENCH_STEADY, 1);
    assert_true(value_of(&results, ours, none, 0) == 1);
    assert_true(isnan(value_of(&results, ours, none, 1000)));
    add(&results, "kubelua", 1000, BENCH_STEADY, 2);
    assert_true(value_of(&results, ours, none, 1000) == 2);
    bench_results_clear(&results);
}

static void test_a_bound_is_kept_on_its_own_side(void **state)
{
    struct bench_target at_least = {.at_least = true, .bound = 4}, at_most = {.bound = 4};
    assert_true(bench_target_met(&at_least, 4));
    assert_false(bench_target_met(&at_least, 3.99));
    assert_true(bench_target_met(&at_most, 4));
    assert_false(bench_target_met(&at_most, 4.01));
}

/* Names are how rows and subjects find each other: each is one that ./dev bench gives, or ours. */
static void test_the_targets_name_subjects_that_there_are(void **state)
{
    static const char *const known[] = {"kubelua",
                                        "kubelua metadata",
                                        "kubelua projected",
                                        "client-go json",
                                        "client-go protobuf",
                                        "client-go dynamic",
                                        "client-go metadata",
                                        "floor dom",
                                        "kube-rs typed glibc",
                                        "kube-rs typed jemalloc"};
    for (const struct bench_target *target = bench_targets; target->what; target++) {
        struct str rest = str_of(target->figure.subjects), name;
        while (str_cut(&rest, '|', &name)) {
            size_t found = 0;
            for (size_t i = 0; i < sizeof known / sizeof *known; i++) found += str_is(name, known[i]);
            assert_int_equal(found, 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_median_is_the_middle_of_the_runs),
        cmocka_unit_test(test_a_ratio_takes_the_best_of_several_subjects),
        cmocka_unit_test(test_a_target_of_other_data_looks_at_those),
        cmocka_unit_test(test_a_bound_is_kept_on_its_own_side),
        cmocka_unit_test(test_the_targets_name_subjects_that_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
