/* core/bench/run/bench_target.c, bench_result.c, bench_compare.c and what they are shown with: medians,
 * ratios of subjects, whether a bound is kept, and why there is nothing to keep it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "bench/run/bench_compare.h"
#include "bench/run/bench_number.h"
#include "bench/run/bench_proc.h"
#include "bench/run/bench_target.h"

static const struct bench_scope everything = {10, 3, BENCH_ALL, false};

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
    return bench_target_value(&target, results, &everything);
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

/* A target of this figure over kubelua's. */
static void is_missing_as(const struct bench_figure figure, size_t pods, const struct bench_results *results,
                          const struct bench_scope *scope, const char *why)
{
    struct bench_target target = {"", figure, {"kubelua", BENCH_SYNC_CPU}, BENCH_TIMES, true, 4, pods, 3};
    struct buf text = {0};
    bench_target_why_not(&target, results, scope, &text);
    assert_string_equal(buf_text(&text), why);
    buf_clear(&text);
}

static void test_a_target_without_a_figure_says_what_it_lacks(void **state)
{
    static const struct bench_figure go = {"client-go json|other", BENCH_STORM_CPU};
    static const struct bench_scope sync_only = {10, 3, BENCH_BIT(BENCH_SYNC), false},
                                    full = {10, 3, BENCH_ALL, true};
    struct bench_results results = {0};
    is_missing_as(go, 0, &results, &everything, "needs client-go json");
    is_missing_as(go, 1000, &results, &everything, "needs --full");
    is_missing_as(go, 1000, &results, &full, "needs client-go json");
    is_missing_as(go, 0, &results, &sync_only, "--only leaves out storm");
    bench_results_lack(&results, "client-go json", false, "there is no Go");
    is_missing_as(go, 0, &results, &everything, "needs client-go json");
    bench_results_lack(&results, "kubelua", true, "it died");
    add(&results, "client-go json", 10, BENCH_STORM_CPU, 20);
    is_missing_as(go, 0, &results, &everything, "kubelua failed");
    bench_results_clear(&results);
}

static void test_what_was_not_reached_says_so(void **state)
{
    static const struct bench_figure go = {"client-go json", BENCH_STORM_CPU};
    struct bench_results results = {.stopped = xstrdup("interrupted")};
    is_missing_as(go, 0, &results, &everything, "the benchmark was ended before");
    bench_results_clear(&results);
}

static void test_a_span_has_the_lowest_and_the_highest_run(void **state)
{
    struct bench_results results = {0};
    add(&results, "a", 10, BENCH_SYNC_CPU, 5);
    add(&results, "a", 10, BENCH_SYNC_CPU, 1);
    add(&results, "a", 10, BENCH_SYNC_CPU, 100);
    struct bench_span span = bench_result_span(bench_results_find(&results, "a", 10, 3), BENCH_SYNC_CPU);
    assert_true(span.lowest == 1 && span.median == 5 && span.highest == 100 && span.count == 3);
    assert_int_equal(bench_result_span(NULL, BENCH_SYNC_CPU).count, 0);
    bench_results_clear(&results);
}

/* An idle process is measured on the way to all else. */
static void test_only_what_was_asked_for_is_something(void **state)
{
    struct bench_results results = {0};
    assert_false(bench_results_any(&results, BENCH_ALL));
    add(&results, "a", 10, BENCH_IDLE_RESIDENT, 5);
    assert_false(bench_results_any(&results, BENCH_BIT(BENCH_SYNC)));
    assert_true(bench_results_any(&results, BENCH_BIT(BENCH_IDLE)));
    add(&results, "a", 10, BENCH_SYNC_CPU, 5);
    assert_true(bench_results_any(&results, BENCH_BIT(BENCH_SYNC)));
    bench_results_clear(&results);
}

static const char *verdict(enum bench_metric metric, double before, double now, double spread)
{
    struct bench_span then = {before - spread, before, before + spread, 3},
                      today = {now - spread, now, now + spread, 3};
    return bench_compare_verdict(metric, &then, &today);
}

static void test_a_change_is_judged_by_the_spread(void **state)
{
    assert_string_equal(verdict(BENCH_SYNC_CPU, 20, 25, 1), "worse");
    assert_string_equal(verdict(BENCH_SYNC_CPU, 20, 15, 1), "better");
    assert_string_equal(verdict(BENCH_STORM_RATE, 20, 25, 1), "better");
    assert_string_equal(verdict(BENCH_STORM_RATE, 20, 15, 1), "worse");
    assert_string_equal(verdict(BENCH_SYNC_CPU, 20, 25, 3), "within the spread");
    assert_string_equal(verdict(BENCH_SYNC_CPU, 20, 20.1, 0.01), "within 1 %");
    assert_string_equal(verdict(BENCH_SELECT_HITS, 20, 40, 1), "");
    struct bench_span one = {20, 20, 20, 1}, three = {30, 30, 30, 3};
    assert_string_equal(bench_compare_verdict(BENCH_SYNC_CPU, &one, &three), "");
}

static void shows(double value, const char *text, const char *exact)
{
    struct buf out = {0};
    bench_number_put(&out, value);
    assert_string_equal(buf_text(&out), text);
    out.len = 0;
    bench_number_exact(&out, value);
    assert_string_equal(buf_text(&out), exact);
    buf_clear(&out);
}

static void test_numbers_have_three_digits_that_count(void **state)
{
    shows(NAN, "-", "-");
    shows(1.2, "1.20", "1.2");
    shows(9.996, "10.0", "9.996");
    shows(-0.5, "-0.50", "-0.5");
    shows(99.96, "100", "99.96");
    shows(9999, "9999", "9999");
    shows(10000, "10,000", "10,000");
    shows(-1234567.4, "-1,234,567", "-1,234,567");
}

static void test_memory_is_told_for_the_pods(void **state)
{
    struct bench_data some = {1000, 3, NULL}, many = {1000000, 3, NULL}, alone = {1000000, 1, NULL};
    size_t need = bench_memory_need(&many);
    assert_in_range(need, 11UL << 30, 15UL << 30);
    assert_true(bench_memory_need(&alone) > need);
    assert_in_range(bench_memory_need(&some), 1, 200 << 20);
    assert_in_range(bench_memory_available(), 1, bench_memory_total());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_median_is_the_middle_of_the_runs),
        cmocka_unit_test(test_a_ratio_takes_the_best_of_several_subjects),
        cmocka_unit_test(test_a_target_of_other_data_looks_at_those),
        cmocka_unit_test(test_a_bound_is_kept_on_its_own_side),
        cmocka_unit_test(test_the_targets_name_subjects_that_there_are),
        cmocka_unit_test(test_a_target_without_a_figure_says_what_it_lacks),
        cmocka_unit_test(test_what_was_not_reached_says_so),
        cmocka_unit_test(test_a_span_has_the_lowest_and_the_highest_run),
        cmocka_unit_test(test_only_what_was_asked_for_is_something),
        cmocka_unit_test(test_a_change_is_judged_by_the_spread),
        cmocka_unit_test(test_numbers_have_three_digits_that_count),
        cmocka_unit_test(test_memory_is_told_for_the_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
