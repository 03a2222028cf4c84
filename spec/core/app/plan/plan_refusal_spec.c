/* core/app/plan/plan_refusal.c: what a reload would refuse, told from plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app/plan/plan_refusal.h"
#include "base/mem.h"

/* Two scripts that run, and files that stand for them or for none. */
struct check_target {
    struct inventory plans[4];
    struct plan_script running[2], files[2];
    struct err err;
};

static int setup(void **state)
{
    struct check_target *w = NEW(struct check_target);
    static const char *const names[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        w->running[i] = (struct plan_script){.name = names[i], .path = names[i], .plan = &w->plans[i]};
        w->files[i] = (struct plan_script){.name = names[i], .path = names[i], .plan = &w->plans[2 + i]};
    }
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct check_target *w = *state;
    for (int i = 0; i < 4; i++) inventory_clear(&w->plans[i]);
    free(w);
    return 0;
}

static void add(struct inventory *plan, enum inventory_class class, const char *key, const char *detail)
{
    inventory_add(plan, class, str_of(key), str_of(detail));
    inventory_set_place(plan, class, str_of(key), "x.lua", 3);
}

static bool keeps(struct check_target *w, const char *before, const char *after)
{
    add(&w->plans[0], INVENTORY_STATE, "seen", before);
    add(&w->plans[2], INVENTORY_STATE, "seen", after);
    plan_pair(w->running, 2, w->files, 2);
    bool ok = plan_keeps_states(&w->files[0], &w->err);
    inventory_clear(&w->plans[0]);
    inventory_clear(&w->plans[2]);
    return ok;
}

static void test_a_version_that_differs_needs_migrate(void **state)
{
    struct check_target *w = *state;
    assert_true(keeps(w, "{version=2}", "{version=2}"));
    assert_true(keeps(w, "{version=1}", "{}")); /* 1 is the one that is not said */
    assert_true(keeps(w, "{}", "{migrate=function 0011223344556677, version=2}"));
    assert_false(keeps(w, "{}", "{version=2}"));
    assert_string_equal(w->err.text,
                        "x.lua:3: k8s.state: seen: version changes from 1 to 2 without a migrate function");
    assert_false(keeps(w, "{version=3}", "{version=2}"));
    add(&w->plans[2], INVENTORY_STATE, "new", "{version=7}");
    assert_true(plan_keeps_states(&w->files[0], &w->err));
}

static bool fits(struct check_target *w, size_t file)
{
    plan_pair(w->running, 2, w->files, 2);
    return plan_metrics_fit(w->running, 2, w->files, file, &w->err);
}

static void test_a_metric_must_be_made_as_others_made_it(void **state)
{
    struct check_target *w = *state;
    add(&w->plans[0], INVENTORY_METRIC, "n_total", "{help=\"n\", kind=\"counter\"}");
    add(&w->plans[2], INVENTORY_METRIC, "n_total", "{help=\"n\", kind=\"counter\"}");
    add(&w->plans[3], INVENTORY_METRIC, "n_total", "{help=\"n\", kind=\"counter\"}");
    assert_true(fits(w, 1));
    inventory_clear(&w->plans[3]);
    add(&w->plans[3], INVENTORY_METRIC, "n_total", "{help=\"m\", kind=\"counter\"}");
    assert_false(fits(w, 1));
    assert_string_equal(
        w->err.text,
        "x.lua:3: k8s.metric: n_total: the script a has it with another type, help, labels or buckets");
}

static void test_its_own_earlier_metric_is_no_other(void **state)
{
    struct check_target *w = *state;
    add(&w->plans[0], INVENTORY_METRIC, "n_total", "{kind=\"counter\"}");
    add(&w->plans[2], INVENTORY_METRIC, "n_total", "{kind=\"gauge\"}");
    assert_true(fits(w, 0));
}

static void test_samples_of_a_histogram_count_as_names(void **state)
{
    struct check_target *w = *state;
    add(&w->plans[0], INVENTORY_METRIC, "took", "{kind=\"histogram\"}");
    add(&w->plans[2], INVENTORY_METRIC, "took", "{kind=\"histogram\"}");
    add(&w->plans[3], INVENTORY_METRIC, "took_count", "{kind=\"counter\"}");
    assert_false(fits(w, 1));
    assert_string_equal(w->err.text,
                        "x.lua:3: k8s.metric: took_count conflicts with the samples of took of script a");
    inventory_clear(&w->plans[2]); /* a is to drop it, but has it while b is loaded */
    assert_false(fits(w, 1));
    inventory_clear(&w->plans[0]);
    assert_true(fits(w, 1));
}

static void test_of_two_files_the_later_one_is_refused(void **state)
{
    struct check_target *w = *state;
    add(&w->plans[2], INVENTORY_METRIC, "size", "{kind=\"gauge\"}");
    add(&w->plans[3], INVENTORY_METRIC, "size", "{kind=\"counter\"}");
    assert_true(fits(w, 0));
    assert_false(fits(w, 1));
    w->files[0].error = "a.lua:1: no";
    assert_true(fits(w, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        T(test_a_version_that_differs_needs_migrate),  T(test_a_metric_must_be_made_as_others_made_it),
        T(test_its_own_earlier_metric_is_no_other),    T(test_samples_of_a_histogram_count_as_names),
        T(test_of_two_files_the_later_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
