/* A candidate on the virtual clock; see candidate.h. */
#include "core/informer/support/candidate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/informer/support/log_double.h"

struct virtual_clock candidate_clock;
struct lease_server candidate_server;
struct lease_way candidate_way;
struct leader *candidate;
int candidate_changes, candidate_renewals;

static void on_changed(void *ctx)
{
    candidate_changes++;
}

static void on_renewed(void *ctx)
{
    candidate_renewals++;
}

static void start(const struct leader_times *times, struct lease_labels labels, uint64_t seed)
{
    candidate = leader_new(&(struct leader_options){
        .namespace_ = "ops",
        .name = "rules",
        .identity = "me",
        .times = *times,
        .labels = labels,
        .source = candidate_way.source,
        .clock = &candidate_clock.clock,
        .seed = seed,
        .changed = on_changed,
        .renewed = on_renewed,
    });
    leader_start(candidate);
}

const struct leader_times candidate_times = {15000, 10000, 2000};

int candidate_open(void **state)
{
    candidate_changes = candidate_renewals = 0;
    virtual_clock_init(&candidate_clock);
    objects_open();
    lease_way_init(&candidate_way, &candidate_server);
    start(&candidate_times, (struct lease_labels){0}, 1);
    return 0;
}

int candidate_close(void **state)
{
    leader_free(candidate);
    lease_way_clear(&candidate_way);
    lease_server_clear(&candidate_server);
    objects_close();
    virtual_clock_clear(&candidate_clock);
    log_take();
    return 0;
}

void candidate_restart(const struct leader_times *times, struct lease_labels labels, uint64_t seed)
{
    leader_free(candidate);
    candidate_way.cancelled = candidate_way.asked = 0;
    start(times, labels, seed);
}

struct leader_status candidate_status(void)
{
    struct leader_status s;
    leader_get_status(candidate, &s);
    return s;
}

bool candidate_leads(void)
{
    struct leader_status s = candidate_status();
    return s.fence && fence_is_open(s.fence);
}

void candidate_answer(const char *verb)
{
    assert_string_equal(lease_way_open(&candidate_way), verb);
    lease_way_answer(&candidate_way);
}

void candidate_refuse(const char *verb, int code)
{
    assert_string_equal(lease_way_open(&candidate_way), verb);
    lease_way_refuse(&candidate_way, code);
}

/* Moves to the next question; gives how long that took. */
int64_t candidate_pass(int64_t at_most_ms)
{
    int64_t ms = 0;
    while (!*lease_way_open(&candidate_way) && ms <= at_most_ms) {
        virtual_clock_advance(&candidate_clock, 1);
        ms++;
    }
    return ms;
}

/* A lease that was not there is ours, and renewed. */
void candidate_win(void)
{
    candidate_answer("get");
    candidate_answer("create");
    virtual_clock_advance(&candidate_clock, 0);
    candidate_answer("update");
    assert_true(candidate_leads());
}
