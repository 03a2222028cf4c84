/* core/informer/leader/leader.c: three candidates and a server that is slow, loses answers and goes away,
 * candidates that stand still and come back: never do two lead at once, and somebody always leads again. The
 * seed is printed; SEED sets it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/lease_server.h"
#include "core/informer/support/log_double.h"

enum { CANDIDATES = 3, RUNS = 40, STEPS = 400000, CALM_MS = 60000 };

struct candidate {
    struct lease_way way;
    struct leader *leader;
    struct virtual_clock clock; /* of its thread: one that stands still does not see its timers */
    int64_t asleep_until_ms, serve_at_ms, answer_at_ms;
    char identity[16];
};

static struct jitter chance;
static struct lease_server server;
static struct candidate candidates[CANDIDATES];
static int64_t wall_ms;

static bool one_in(int64_t n)
{
    return jitter_between(&chance, 0, n) == 0;
}

static void nothing(void *ctx) {}

static const struct leader_times times[] = {{3000, 2000, 400}, {2000, 1900, 1000}, {5000, 1000, 100}};

static void start(struct candidate *c, int i)
{
    lease_way_init(&c->way, &server);
    c->asleep_until_ms = c->answer_at_ms = 0;
    snprintf(c->identity, sizeof c->identity, "c%d", i);
    c->leader = leader_new(&(struct leader_options){.namespace_ = "ops",
                                                    .name = "rules",
                                                    .identity = c->identity,
                                                    .times = times[i],
                                                    .source = c->way.source,
                                                    .clock = &c->clock.clock,
                                                    .seed = jitter_next(&chance),
                                                    .changed = nothing,
                                                    .renewed = nothing});
    leader_start(c->leader);
}

/* What a script would be told, whether its I/O thread stands still or not. */
static bool leads(const struct candidate *c)
{
    struct leader_status status;
    leader_get_status(c->leader, &status);
    return status.fence && fence_is_open(status.fence);
}

static int leading(void)
{
    int count = 0;
    for (int i = 0; i < CANDIDATES; i++) count += leads(&candidates[i]);
    return count;
}

static void answer(struct candidate *c, bool calm)
{
    c->answer_at_ms = 0;
    if (!calm && one_in(6))
        lease_way_lose_answer(&c->way);
    else if (!calm && one_in(6))
        lease_way_refuse(&c->way, one_in(2) ? 0 : 500);
    else
        lease_way_answer(&c->way);
}

static void step(struct candidate *c, bool calm)
{
    c->clock.now = wall_ms;
    if (!calm && one_in(20000)) c->asleep_until_ms = wall_ms + jitter_between(&chance, 1, 8000);
    if (c->way.done && c->answer_at_ms && wall_ms >= c->serve_at_ms && !c->way.served)
        lease_way_serve(&c->way);
    if (wall_ms < c->asleep_until_ms) return;
    clock_fire(&c->clock.clock);
    if (c->way.done && !c->answer_at_ms) {
        int64_t most_ms = !calm && one_in(20) ? 5000 : 100;
        c->serve_at_ms = wall_ms + jitter_between(&chance, 1, most_ms);
        c->answer_at_ms = c->serve_at_ms + jitter_between(&chance, 0, most_ms);
    }
    if (c->way.done && wall_ms >= c->answer_at_ms) answer(c, calm);
    if (!c->way.done) c->answer_at_ms = 0;
}

static void run(uint64_t *terms)
{
    int was = 0;
    for (int64_t t = 0; t < STEPS; t++) {
        bool calm = t > STEPS - CALM_MS;
        wall_ms++;
        for (int i = 0; i < CANDIDATES; i++) {
            step(&candidates[i], calm);
            if (leading() > 1) fail_msg("two lead at once, at %lld ms", (long long)wall_ms);
        }
        *terms += !was && leading();
        was = leading();
    }
    assert_int_equal(leading(), 1);
}

static void test_never_do_two_lead_at_once(void **state)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)clock_wall_us(clock_real()), terms = 0;
    print_message("SEED=%llu\n", (unsigned long long)seed);
    for (int r = 0; r < RUNS; r++) {
        chance.state = seed + (uint64_t)r;
        wall_ms = 0;
        objects_open();
        for (int i = 0; i < CANDIDATES; i++) {
            virtual_clock_init(&candidates[i].clock);
            start(&candidates[i], i);
        }
        run(&terms);
        for (int i = 0; i < CANDIDATES; i++) {
            leader_free(candidates[i].leader);
            lease_way_clear(&candidates[i].way);
            virtual_clock_clear(&candidates[i].clock);
        }
        lease_server_clear(&server);
        objects_close();
        log_take();
    }
    print_message("%llu terms\n", (unsigned long long)terms);
    assert_true(terms > RUNS * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_never_do_two_lead_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
