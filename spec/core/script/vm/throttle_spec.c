/* core/script/vm/throttle.c: turns of writes (E-4). */
#include "script/vm/throttle.h"

#include "core/script/support/patient.h"
#include "core/script/support/writes.h"
#include "script/vm/task.h"

static struct limits limits;

static int setup(void **state)
{
    writes_setup(state);
    limits = patient_limits;
    bench.cluster.host.limits = &limits;
    bench.cluster.host.write_mode = WRITES_RECORDED; /* a response at once */
    writes_discover();
    return 0;
}

static struct pace_status waiting(void)
{
    return pace_status(bench.script, LIMIT_WRITES);
}

static void test_a_burst_of_half_the_limit_and_then_an_even_rate(void **state)
{
    limits.values[LIMIT_WRITES] = 60;
    writes_start("for i = 1, 40 do assert(k8s.patch(pod, {})) tell(i) end");
    for (int i = 0; i < 40; i++) writes_settle(); /* a response is a turn of the loop */
    assert_told("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30");
    writes_advance(999);
    assert_told("");
    assert_int_equal(waiting().waiting, 1);
    assert_int_equal(waiting().longest_ms, 999);
    writes_advance(1);
    assert_told("31");
    for (int i = 0; i < 10; i++) writes_advance(1000);
    assert_told("32 33 34 35 36 37 38 39 40");
    assert_int_equal(waiting().waiting, 0);
    assert_int_equal(script_counters(bench.script).failed_writes, 0);
}

#define MANY(count)                                      \
    "for i = 1, " #count " do k8s.after(0, function()\n" \
    "local ok, err = k8s.patch(pod, {})\n"               \
    "if ok then tell(i) else tell(i, err.reason, err.retry_after, err.message) end end) end k8s.sleep(60)"

static void test_those_that_wait_go_in_order_and_for_30_seconds_at_most(void **state)
{
    limits.values[LIMIT_WRITES] = 6;
    writes_start(MANY(7));
    writes_advance(1);
    for (int i = 0; i < 10; i++) writes_settle();
    assert_told("7 LimitExceeded 40 k8s.patch: over the limit writes (6 per minute); the wait would exceed "
                "30s 1 2 3");
    assert_int_equal(waiting().waiting, 3);
    for (int i = 0; i < 30; i++) writes_advance(1000);
    assert_told("4 5 6");
    assert_int_equal(script_counters(bench.script).failed_writes, 1);
}

static void test_a_thousand_wait_at_most(void **state)
{
    limits.values[LIMIT_WRITES] = 2400;
    bench.cluster.host.write_mode = WRITES_SENT;
    bench.is_mute = true;
    writes_start("for i = 1, 2205 do k8s.after(0, function() local ok, err = k8s.patch(pod, {})\n"
                 "if not ok and not last then last = err tell(err.message) end end) end k8s.sleep '10ms'");
    writes_advance(1);
    for (int i = 0; i < 100; i++) writes_settle();
    assert_int_equal(waiting().waiting, PACE_WAITING_MAX);
    assert_told("k8s.patch: over the limit writes (2400 per minute); 1000 calls wait already");
    assert_int_equal(script_counters(bench.script).failed_writes, 5);
}

static void test_who_is_cancelled_leaves_the_turn_to_the_next(void **state)
{
    limits.values[LIMIT_WRITES] = 6;
    writes_start(MANY(5));
    writes_advance(1);
    for (int i = 0; i < 10; i++) writes_settle();
    assert_told("1 2 3");
    assert_int_equal(waiting().waiting, 2);
    struct pace_wait *first = TAILQ_FIRST(&bench.script->report.throttle.writes.waits);
    task_cancel(((struct task_wait *)first)->task); /* which it begins with */
    assert_int_equal(waiting().waiting, 1);
    writes_advance(10000);
    assert_told("5");
    assert_int_equal(script_counters(bench.script).failed_writes, 0);
}

static void test_none_are_none(void **state)
{
    limits.values[LIMIT_WRITES] = 0;
    writes_start("local ok, err = k8s.patch(pod, {}) tell(err.reason, err.retry_after)");
    assert_told("LimitExceeded nil");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, writes_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_burst_of_half_the_limit_and_then_an_even_rate),
        T(test_those_that_wait_go_in_order_and_for_30_seconds_at_most),
        T(test_a_thousand_wait_at_most),
        T(test_who_is_cancelled_leaves_the_turn_to_the_next),
        T(test_none_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
