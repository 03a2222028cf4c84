/* core/informer/shared/shared.c: an informer from its first claim to the end of its grace period (B-6, F-5,
 * F-7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/informer/support/factory_fixture.h"

static void await_freed(const struct scripted_source *source)
{
    for (int i = 0; i < 1000 && !source->freed; i++) loop_once(loop, true);
    assert_true(source->freed);
}

static void test_b6_f7_an_unused_informer_is_kept_for_the_grace_period_and_then_stopped(void **state)
{
    factory_restart(20);
    struct informer_claim *pods = claim("pods");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    claim_release(pods);
    settle();
    assert_false(sources[0].freed);
    await_freed(&sources[0]);
}

static void test_b6_a_claim_within_the_grace_period_takes_the_warm_cache(void **state)
{
    struct history history = {0};
    factory_restart(60000);
    struct informer_claim *pods = claim("pods");
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    settle();
    claim_release(pods);
    source_event(&sources[0], LW_ADDED, "a/y@6"); /* nobody listens, the cache does */
    settle();
    pods = claim("pods");
    claim_history(pods, &history);
    resolve(false);
    assert_int_equal(source_count, 1);
    assert_true(claim_has_synced(pods));
    assert_string_equal(history_take(&history), "add+ a/x@1; add+ a/y@6");
    assert_string_equal(source_asked(&sources[0]), "watch bookmarks rv=5"); /* and no second list */
    history_clear(&history);
}

static enum transform_result keep_it(void *ctx, struct root *given, struct root **out)
{
    assert_false(*(bool *)ctx); /* freed */
    *out = root_ref(given);
    return TRANSFORM_KEPT;
}

static void note_freed(void *ctx)
{
    *(bool *)ctx = true;
}

static void test_b6_a_transform_does_not_outlive_its_claim(void **state)
{
    bool freed = false;
    const struct transform transform = {.fn = keep_it, .free = note_freed, .ctx = &freed, .owner = "a.lua"};
    factory_restart(60000);
    struct informer_claim *pods =
        shared_factory_claim(factory, &(struct informer_spec){.kind = "pods", .transform = transform});
    resolve(false);
    source_list(&sources[0], "a/x@1", "5");
    source_event(&sources[0], LW_ADDED, "a/y@6");
    claim_release(pods);
    assert_true(freed);
    settle();
    assert_true(sources[0].freed);
}

/* --- a transform that takes its time */

enum { LISTED = 200 };

static size_t transformed;

/* A millisecond for each. */
static enum transform_result be_slow(void *ctx, struct root *given, struct root **out)
{
    struct clock *clock = loop_clock(loop);
    int64_t begun_ms = clock_now_ms(clock);
    assert_false(*(bool *)ctx);
    while (clock_now_ms(clock) == begun_ms) continue;
    transformed++;
    *out = root_ref(given);
    return TRANSFORM_KEPT;
}

/* The first list, of which the first slice is done. */
static struct informer_claim *list_slowly(bool *freed, struct history *h)
{
    const struct transform slow = {.fn = be_slow, .free = note_freed, .ctx = freed, .owner = "a.lua"};
    struct buf objects = {0};
    transformed = 0;
    struct informer_claim *pods =
        shared_factory_claim(factory, &(struct informer_spec){.kind = "pods", .transform = slow});
    claim_history(pods, h);
    claim_history(claim("nodes"), h + 1);
    resolve(false);
    source_list(&sources[1], "", "5");
    settle();
    for (int i = 0; i < LISTED; i++) buf_printf(&objects, "a/x%d@%d ", i, i + 1);
    source_list(&sources[0], buf_text(&objects), "900");
    buf_clear(&objects);
    loop_once(loop, false);
    while (transformed == 0) loop_once(loop, false);
    return pods;
}

static void note_turn(struct timer *timer)
{
    assert_in_range(transformed, 1, LISTED - 1);
}

static void test_timers_and_other_informers_have_their_turns_while_a_list_is_transformed(void **state)
{
    bool freed = false;
    struct history h[2] = {{.calls = 0}};
    struct timer timer = {.fn = note_turn};
    struct informer_claim *pods = list_slowly(&freed, h);
    assert_in_range(transformed, 1, 30); /* what one informer may take of a turn is 20 ms */
    source_event(&sources[1], LW_ADDED, "x@6");
    timer_start(&timer, loop_clock(loop), 0);
    while (timer_running(&timer) || h[1].calls == 0) loop_once(loop, false);
    assert_in_range(transformed, 1, LISTED - 1);
    assert_int_equal(h[0].calls, 0);
    assert_false(claim_has_synced(pods));
    while (!claim_has_synced(pods)) loop_once(loop, true);
    assert_int_equal(transformed, LISTED);
    assert_int_equal(h[0].calls, LISTED);
    history_clear(&h[0]);
    history_clear(&h[1]);
}

static void test_a_claim_may_be_released_while_its_list_is_transformed(void **state)
{
    bool freed = false;
    struct history h[2] = {{.calls = 0}};
    struct informer_claim *pods = list_slowly(&freed, h);
    claim_release(pods);
    assert_true(freed);
    settle();
    assert_true(sources[0].freed);
    assert_int_equal(h[0].calls, 0);
    history_clear(&h[0]);
    history_clear(&h[1]);
}

static void test_f5_the_end_does_not_wait_for_a_grace_period(void **state)
{
    factory_restart(60000);
    struct informer_claim *pods = claim("pods");
    claim_scope("pods", "shop", "", "");
    resolve(false);
    claim_release(pods);
    shared_factory_free(factory);
    assert_true(sources[0].freed);
    assert_true(sources[1].freed);
    factory = NULL;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, factory_open, factory_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_b6_f7_an_unused_informer_is_kept_for_the_grace_period_and_then_stopped),
        TEST(test_b6_a_claim_within_the_grace_period_takes_the_warm_cache),
        TEST(test_b6_a_transform_does_not_outlive_its_claim),
        TEST(test_timers_and_other_informers_have_their_turns_while_a_list_is_transformed),
        TEST(test_a_claim_may_be_released_while_its_list_is_transformed),
        TEST(test_f5_the_end_does_not_wait_for_a_grace_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
