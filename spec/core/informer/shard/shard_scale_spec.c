/* core/informer/shard: groups of 1 to 30 replicas, or to MEMBERS (1,000 in ./dev prove members), for ten
 * quiet minutes, and ten in which a replica dies and another one joins every 30 s: requests and bytes of each
 * replica, slots that move, gaps. Prints a row for each size; fails if one costs more than it is stated to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/shard_group.h"

enum { WINDOW_MS = 600000, EACH_MS = 30000, OBJECTS = 100000000, PER_SECOND = WINDOW_MS / 1000 };

static struct shard_group group;

static struct shard_traffic minus(struct shard_traffic a, const struct shard_traffic *b)
{
    a.requests -= b->requests;
    a.renewals -= b->renewals;
    a.watch_events -= b->watch_events;
    a.bytes -= b->bytes;
    return a;
}

static struct shard_traffic quiet(void)
{
    struct shard_traffic before = group_traffic(&group);
    group_advance(&group, WINDOW_MS);
    return minus(group_traffic(&group), &before);
}

static struct shard_traffic churned(void)
{
    struct shard_traffic before = group_traffic(&group);
    for (int64_t t = 0; t < WINDOW_MS; t += EACH_MS) {
        group_join(&group);
        group_advance(&group, EACH_MS / 2);
        replica_kill(group_any(&group));
        group_advance(&group, EACH_MS / 2);
    }
    return minus(group_traffic(&group), &before);
}

static void begin(size_t members)
{
    group_open(&group, members);
    for (size_t i = 0; i < members; i++) {
        group_join(&group);
        group_advance(&group, 10);
    }
    group_advance(&group, 180000);
    assert_group_is_whole(&group);
    group.moves = 0;
    for (size_t i = 0; i < STOP_REASONS; i++) group.longest_gap_ms[i] = 0;
}

static void print_row(size_t members, const struct shard_traffic *calm, const struct shard_traffic *wild)
{
    double n = (double)members;
    print_message("%7zu %8.1f %8.2f %9.0f %8.1f %9.0f %8zu %9.1f %9.2f %8.1f %6zu\n", members,
                  (double)calm->requests / PER_SECOND, (double)calm->requests / n / PER_SECOND,
                  (double)calm->bytes / n / PER_SECOND, (double)wild->requests / PER_SECOND,
                  (double)wild->bytes / n / PER_SECOND, group.server.table.len,
                  (double)group.moves / SHARD_SLOTS * OBJECTS / 1e6 / (2.0 * WINDOW_MS / EACH_MS),
                  (double)group.longest_gap_ms[STOP_HANDED] / 1000,
                  (double)group.longest_gap_ms[STOP_DIED] / 1000, group.most_runs);
}

static void measure(size_t members)
{
    begin(members);
    struct shard_traffic calm = quiet();
    assert_int_equal(group.moves, 0);
    struct shard_traffic wild = churned();
    print_row(members, &calm, &wild);
    /* A renewal every 5 s, a look in 15 s or more; three deputies and the writer look every 2 s. */
    assert_true(calm.requests <= members * PER_SECOND * (0.2 + 1.0 / 15) + 3 * PER_SECOND);
    assert_int_equal(calm.watch_events, 0);
    /* A join and a death move the share of one, and the slot that cannot be divided. */
    size_t events = WINDOW_MS / EACH_MS;
    assert_true(group.moves <= events * 2 * (SHARD_SLOTS / members + 1));
    assert_true(group.longest_gap_ms[STOP_DIED] <= shard_times_failover_ms(&group.times));
    group_advance(&group, 60000);
    assert_group_is_whole(&group);
    group_close(&group);
    log_take();
}

static void test_what_a_group_costs(void **state)
{
    static const size_t sizes[] = {1, 3, 10, 30, 100, 300, 1000};
    const char *given = getenv("MEMBERS");
    size_t most = given ? strtoull(given, NULL, 10) : 30;
    print_message(
        "        quiet                      with churn                           moved   longest gap, s  "
        "most\n"
        "members req/s    of each  bytes/s    req/s    bytes/s    table  Mobjects   handed    died  "
        "ranges\n");
    for (size_t i = 0; i < ARRAY_LEN(sizes) && sizes[i] <= most; i++) measure(sizes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_a_group_costs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
