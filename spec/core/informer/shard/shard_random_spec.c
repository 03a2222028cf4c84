/* core/informer/shard: replicas that join, leave, die, freeze and are cut off, a slow server that loses
 * requests, people who delete Leases and the table: never do two work on one slot, and soon all slots have
 * owners again. And a thousand replicas. The seed is printed; SEED sets it, RUNS how many runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time/backoff.h"
#include "core/informer/support/log_double.h"
#include "core/informer/support/runs.h"
#include "core/informer/support/shard_group.h"

enum { RUNS = 40, WILD_MS = 600000, CALM_MS = 120000 };

static struct shard_group group;
static size_t handed, died, leaks;

static void assert_gap(enum stop_reason why, int64_t most_ms, const char *what)
{
    if (group.longest_gap_ms[why] > most_ms)
        fail_msg("%s: nobody worked on a slot for %lld ms, over %lld ms", what,
                 (long long)group.longest_gap_ms[why], (long long)most_ms);
}

static void forget_gaps(void)
{
    for (size_t i = 0; i < STOP_REASONS; i++) group.longest_gap_ms[i] = group.gaps[i] = 0;
}

/* --- chaos */

static void disturb(void)
{
    struct replica *r = group_any(&group);
    struct shard_status status;
    if (!r || group_living(&group) < 2) {
        group_join(&group);
        return;
    }
    shard_member_get_status(r->member, &status);
    switch (jitter_between(&group.server.chance, 0, 12)) {
    case 0:
    case 1:
        if (group_living(&group) < 12) group_join(&group);
        break;
    case 2: replica_kill(r); break;
    case 3: replica_leave(r); break;
    case 4:
    case 5: replica_freeze(r, jitter_between(&group.server.chance, 1, 40000)); break;
    case 6: r->is_cut = true; break;
    case 7:
    case 8: r->is_cut = false; break;
    case 9:
        r->stuck_until_ms = group.server.world.now + jitter_between(&group.server.chance, 1, 60000);
        break;
    case 10: shard_server_delete_lease(&group.server, status.name); break;
    case 11: shard_server_delete_table(&group.server); break;
    }
}

static void heal(void)
{
    for (size_t i = 0; i < group.count; i++) group.replicas[i]->is_cut = false;
    group.server.lost_per_mille = 0;
    group.server.slow_ms = group.server.latency_ms;
}

static void play(uint64_t seed)
{
    group_open(&group, seed);
    group.server.lost_per_mille = (int)jitter_between(&group.server.chance, 0, 100);
    group.server.slow_ms = (int)jitter_between(&group.server.chance, 20, 8000);
    size_t first = (size_t)jitter_between(&group.server.chance, 1, 6);
    for (size_t i = 0; i < first; i++) group_join(&group);
    while (group.server.world.now < WILD_MS) {
        group_advance(&group, jitter_between(&group.server.chance, 1, 8000));
        disturb();
    }
    heal();
    group_advance(&group, CALM_MS);
    assert_group_is_whole(&group);
    leaks += group.server.count - group_living(&group);
    handed += group.gaps[STOP_HANDED];
    died += group.gaps[STOP_DIED];
    group_close(&group);
    log_take();
}

static void test_never_do_two_own_one_slot(void **state)
{
    uint64_t runs = runs_play(play, RUNS);
    print_message("%zu slots handed over, %zu taken from the dead\n", handed, died);
    assert_true(handed > runs * SHARD_SLOTS && died > runs * SHARD_SLOTS);
    assert_int_equal(leaks, 0); /* Leases of the dead are deleted */
}

/* --- stated times */

static void test_gaps_are_as_short_as_stated(void **state)
{
    group_open(&group, 1);
    for (size_t i = 0; i < 3; i++) group_join(&group);
    group_advance(&group, 60000);
    assert_group_is_whole(&group);
    for (int round = 0; round < 20; round++) {
        forget_gaps();
        group_join(&group);
        group_advance(&group, 60000);
        assert_group_is_whole(&group);
        assert_gap(STOP_HANDED, group.times.poll_ms, "join");
        replica_leave(group_any(&group));
        group_advance(&group, 60000);
        assert_group_is_whole(&group);
        assert_gap(STOP_HANDED, shard_times_handover_ms(&group.times) - group.times.drain_ms, "leave");
        forget_gaps();
        replica_kill(group_any(&group));
        group_advance(&group, 60000);
        assert_group_is_whole(&group);
        assert_gap(STOP_DIED, shard_times_failover_ms(&group.times), "death");
        group_join(&group);
        group_advance(&group, 60000);
    }
    group_close(&group);
    log_take();
}

static void delete_all_leases(void)
{
    struct shard_status status;
    for (size_t i = 0; i < group.count; i++) {
        shard_member_get_status(group.replicas[i]->member, &status);
        shard_server_delete_lease(&group.server, status.name);
    }
}

/* People who want a group to begin anew delete all Leases and the table, one soon after the other. */
static void test_a_group_begins_anew_without_leases_and_table(void **state)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        group_open(&group, seed);
        for (size_t i = 0; i < 3; i++) group_join(&group);
        group_advance(&group, 60000 + jitter_between(&group.server.chance, 0, group.times.renew_ms));
        if (seed % 2) shard_server_delete_table(&group.server);
        if (seed % 2) group_advance(&group, jitter_between(&group.server.chance, 0, group.times.renew_ms));
        delete_all_leases();
        if (seed % 2 == 0)
            group_advance(&group, jitter_between(&group.server.chance, 0, group.times.renew_ms));
        if (seed % 2 == 0) shard_server_delete_table(&group.server);
        group_advance(&group, shard_times_failover_ms(&group.times) + 2 * group.times.duration_ms);
        assert_group_is_whole(&group);
        group_close(&group);
    }
    log_take();
}

static void test_a_table_without_members_is_replaced(void **state)
{
    struct shard_server *server = &group.server;
    group_open(&group, 1);
    for (size_t i = 0; i < 3; i++) group_join(&group);
    group_advance(&group, 60000);
    int64_t epoch = clock_wall_us(&server->world.clock) / 1000;
    server->table.len = 0;
    buf_printf(&server->table, "kubelua-shards 1\nepoch %lld\nbarrier %lld\n", (long long)epoch,
               (long long)epoch);
    server->table_version = ++server->version;
    server->table_changed(server->ctx);
    group_advance(&group, shard_times_failover_ms(&group.times) + 2 * group.times.duration_ms);
    assert_group_is_whole(&group);
    group_close(&group);
    log_take();
}

static struct replica *writer(void)
{
    for (size_t i = 0; i < group.count; i++) {
        struct shard_status status;
        if (!group.replicas[i]->member) continue;
        shard_member_get_status(group.replicas[i]->member, &status);
        if (status.view->rank == 0) return group.replicas[i];
    }
    fail_msg("nobody is the first");
    return NULL;
}

/* The others look rarely. */
static void test_the_first_three_may_die_at_once(void **state)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        group_open(&group, seed);
        for (size_t i = 0; i < 6; i++) {
            group_join(&group);
            group_advance(&group, 5000);
        }
        group_advance(&group, 60000);
        assert_ptr_equal(writer(), group.replicas[0]);
        for (size_t i = 0; i < 3; i++) replica_kill(group.replicas[i]);
        group_advance(&group, 120000);
        assert_group_is_whole(&group);
        assert_gap(STOP_DIED, 5 * group.times.duration_ms + 3 * group.times.poll_ms, "three deaths");
        group_close(&group);
    }
    log_take();
}

static void test_a_script_that_does_not_end_costs_the_lease(void **state)
{
    group_open(&group, 1);
    struct replica *stuck = group_join(&group), *other;
    group_advance(&group, 30000);
    assert_group_is_whole(&group);
    stuck->stuck_until_ms = group.server.world.now + 600000;
    other = group_join(&group);
    group_advance(&group, group.times.drain_ms);
    assert_true(slot_set_is_empty(&other->working));
    /* The stuck one does not renew. When its Lease has ended, what still runs there can write no more. */
    group_advance(&group, group.times.duration_ms + 3 * group.times.poll_ms);
    assert_int_equal(slot_set_count(&other->working), SHARD_SLOTS / 2);
    assert_group_is_whole(&group);
    group_close(&group);
    log_take();
}

/* --- many */

static void test_a_thousand_replicas(void **state)
{
    enum { MANY = 1000 };
    group_open(&group, 1);
    for (size_t i = 0; i < MANY; i++) {
        group_join(&group);
        group_advance(&group, 10);
    }
    group_advance(&group, 120000);
    assert_group_is_whole(&group);
    size_t moves = group.moves;
    for (int i = 0; i < 50; i++) {
        replica_kill(group_any(&group));
        group_join(&group);
        group_advance(&group, 2000);
    }
    group_advance(&group, 120000);
    assert_group_is_whole(&group);
    assert_gap(STOP_DIED, shard_times_failover_ms(&group.times), "one of many");
    print_message("%zu moves for 50 deaths and 50 joins of %d, most ranges of one: %zu\n",
                  group.moves - moves, MANY, group.most_runs);
    /* Each death and each join concerns five slots. */
    assert_true(group.moves - moves <= 100 * (SHARD_SLOTS / MANY + 1));
    group_close(&group);
    log_take();
}

static int on_teardown(void **state)
{
    return runs_failed() ? 1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_never_do_two_own_one_slot, on_teardown),
        cmocka_unit_test(test_gaps_are_as_short_as_stated),
        cmocka_unit_test(test_the_first_three_may_die_at_once),
        cmocka_unit_test(test_a_group_begins_anew_without_leases_and_table),
        cmocka_unit_test(test_a_table_without_members_is_replaced),
        cmocka_unit_test(test_a_script_that_does_not_end_costs_the_lease),
        cmocka_unit_test(test_a_thousand_replicas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
