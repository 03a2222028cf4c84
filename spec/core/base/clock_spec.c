/* core/base/clock.c: timers on a virtual clock. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum { SUSPENDED_S = 100000 };

static char order[64];
static size_t fired;

struct named_timer {
    struct timer timer;
    char name;
};

static void on_fire(struct timer *timer)
{
    struct named_timer *named = container_of(timer, struct named_timer, timer);
    order[fired++] = named->name;
    order[fired] = '\0';
}

static int setup(void **state)
{
    static struct virtual_clock v;
    virtual_clock_init(&v);
    fired = 0;
    order[0] = '\0';
    *state = &v;
    return 0;
}

static int teardown(void **state)
{
    virtual_clock_clear(*state);
    return 0;
}

static void test_timers_fire_in_the_order_of_their_instants(void **state)
{
    struct virtual_clock *v = *state;
    struct named_timer a = {{.fn = on_fire}, 'a'}, b = {{.fn = on_fire}, 'b'}, c = {{.fn = on_fire}, 'c'};
    timer_start(&a.timer, &v->clock, 30);
    timer_start(&b.timer, &v->clock, 10);
    timer_start(&c.timer, &v->clock, 20);
    virtual_clock_advance(v, 15);
    assert_string_equal(order, "b");
    virtual_clock_advance(v, 15);
    assert_string_equal(order, "bca");
    assert_int_equal(clock_now_ms(&v->clock), 30);
}

static void test_timers_of_one_instant_fire_in_the_order_of_their_start(void **state)
{
    struct virtual_clock *v = *state;
    struct named_timer t[20];
    for (int i = 0; i < 20; i++) {
        t[i] = (struct named_timer){{.fn = on_fire}, (char)('a' + i)};
        timer_start(&t[i].timer, &v->clock, 5);
    }
    virtual_clock_advance(v, 5);
    assert_string_equal(order, "abcdefghijklmnopqrst");
}

static void test_a_cancelled_timer_does_not_fire_and_may_be_cancelled_again(void **state)
{
    struct virtual_clock *v = *state;
    struct named_timer a = {{.fn = on_fire}, 'a'}, b = {{.fn = on_fire}, 'b'};
    timer_start(&a.timer, &v->clock, 10);
    timer_start(&b.timer, &v->clock, 20);
    timer_cancel(&a.timer);
    timer_cancel(&a.timer);
    assert_false(timer_running(&a.timer));
    virtual_clock_advance(v, 100);
    assert_string_equal(order, "b");
}

static void test_a_second_start_moves_the_timer(void **state)
{
    struct virtual_clock *v = *state;
    struct named_timer a = {{.fn = on_fire}, 'a'};
    timer_start(&a.timer, &v->clock, 10);
    timer_start(&a.timer, &v->clock, 50);
    virtual_clock_advance(v, 49);
    assert_string_equal(order, "");
    virtual_clock_advance(v, 1);
    assert_string_equal(order, "a");
}

static struct virtual_clock *ticking;

static void on_tick(struct timer *timer)
{
    on_fire(timer);
    timer_start(timer, &ticking->clock, 10);
}

static void test_a_timer_may_start_itself_again(void **state)
{
    struct virtual_clock *v = ticking = *state;
    struct named_timer a = {{.fn = on_tick}, 't'};
    timer_start(&a.timer, &v->clock, 10);
    virtual_clock_advance(v, 55);
    assert_string_equal(order, "ttttt");
    timer_cancel(&a.timer);
}

struct slow_timer {
    struct named_timer named;
    struct virtual_clock *time;
};

static void on_slow_fire(struct timer *timer)
{
    container_of(timer, struct slow_timer, named.timer)->time->now += 30;
    on_fire(timer);
}

/* Whoever drives the clock has other things to do. */
static void test_timers_that_take_long_fire_in_rounds(void **state)
{
    struct virtual_clock *v = *state;
    struct slow_timer slow[5];
    for (int i = 0; i < 5; i++) {
        slow[i] = (struct slow_timer){{{.fn = on_slow_fire}, (char)('a' + i)}, v};
        timer_start(&slow[i].named.timer, &v->clock, 0);
    }
    clock_fire(&v->clock);
    assert_string_equal(order, "ab");
    timer_start(&slow[0].named.timer, &v->clock, 0); /* behind those that are due already */
    clock_fire(&v->clock);
    assert_string_equal(order, "abcd");
    clock_fire(&v->clock);
    assert_string_equal(order, "abcdea");
}

static void test_many_random_timers_fire_sorted(void **state)
{
    struct virtual_clock *v = *state;
    enum { N = 2000 };
    const char *seed_text = getenv("SEED");
    unsigned seed = seed_text ? (unsigned)strtoul(seed_text, NULL, 10) : 4242;
    print_message("SEED=%u\n", seed);
    struct timer *timers = xcalloc(N, sizeof *timers);
    static int64_t last;
    last = -1;
    srand(seed);
    for (int i = 0; i < N; i++) {
        timers[i].fn = on_fire;
        timer_start(&timers[i], &v->clock, rand() % 500);
        if (rand() % 3 == 0) timer_cancel(&timers[rand() % (i + 1)]);
    }
    for (int64_t due; (due = clock_next_due_ms(&v->clock)) != INT64_MAX;) {
        assert_true(due >= last);
        last = due;
        size_t before = v->clock.count;
        timer_cancel(v->clock.heap[0]);
        assert_int_equal(v->clock.count, before - 1);
    }
    free(timers);
}

/* In a time namespace whose CLOCK_BOOTTIME is ahead, as after a suspend of that length. 0: so it was; 1: it
 * was not; 2: no right to make one. */
static int sleeper(int64_t before_ms)
{
    FILE *offsets;
    int status = 1;
    bool apart = unshare(CLONE_NEWTIME) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWTIME) == 0;
    if (!apart || !(offsets = fopen("/proc/self/timens_offsets", "w"))) return 2;
    fprintf(offsets, "boottime %d 0\n", SUSPENDED_S);
    if (fclose(offsets) != 0) return 2;
    pid_t child = fork(); /* the first in the namespace */
    if (child == 0) _exit(clock_now_ms(clock_real()) - before_ms < SUSPENDED_S * INT64_C(1000));
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void test_time_passes_while_the_machine_is_suspended(void **state)
{
    int status = 1;
    int64_t before_ms = clock_now_ms(clock_real());
    pid_t child = fork();
    if (child == 0) _exit(sleeper(before_ms));
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) == 2 && !getenv("KUBELUA_REQUIRE_REAL")) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_timers_fire_in_the_order_of_their_instants, setup, teardown),
        cmocka_unit_test_setup_teardown(test_timers_of_one_instant_fire_in_the_order_of_their_start, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_cancelled_timer_does_not_fire_and_may_be_cancelled_again,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_second_start_moves_the_timer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_timer_may_start_itself_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_timers_that_take_long_fire_in_rounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_random_timers_fire_sorted, setup, teardown),
        cmocka_unit_test(test_time_passes_while_the_machine_is_suspended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
