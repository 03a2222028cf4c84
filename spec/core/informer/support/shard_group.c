/* Replicas of a sharded group; see shard_group.h. */
#include "core/informer/support/shard_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static int64_t now_of(const struct replica *r)
{
    return r->group->server.world.now;
}

static bool is_frozen(const struct replica *r)
{
    return now_of(r) < r->frozen_until_ms;
}

static void at(struct replica *r, struct timer *timer, int64_t delay_ms)
{
    timer_start(timer, &r->group->server.world.clock, delay_ms);
}

/* --- its clock: timers wait while it is frozen, time does not */

static int64_t replica_now_ms(struct clock *clock)
{
    return now_of(container_of(clock, struct replica, clock));
}

static int64_t replica_wall_us(struct clock *clock)
{
    return clock_wall_us(&container_of(clock, struct replica, clock)->group->server.world.clock);
}

static void rearm(struct clock *clock)
{
    struct replica *r = container_of(clock, struct replica, clock);
    int64_t due_ms = clock_next_due_ms(clock);
    if (due_ms == INT64_MAX)
        timer_cancel(&r->wake);
    else
        at(r, &r->wake, due_ms - now_of(r));
}

static void on_wake(struct timer *timer)
{
    struct replica *r = container_of(timer, struct replica, wake);
    if (is_frozen(r))
        at(r, timer, r->frozen_until_ms - now_of(r));
    else
        clock_fire(&r->clock);
}

/* --- its engine */

static bool works_on(const struct replica *r, size_t slot)
{
    return r->member && r->fence && fence_is_open(r->fence) && slot_set_has(&r->working, slot);
}

static void stop(struct replica *r, const struct slot_set *set, enum stop_reason why)
{
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++) {
        if (!slot_set_has(set, slot) || r->group->holder[slot] != r) continue;
        r->group->stopped_ms[slot] = now_of(r);
        r->group->reason[slot] = why;
    }
}

static void begin(struct replica *r, size_t slot)
{
    struct shard_group *g = r->group;
    struct replica *before = g->holder[slot];
    enum stop_reason why = g->reason[slot];
    if (before && before != r && works_on(before, slot))
        fail_msg("slot %zu has two owners, %s and %s, at %lld ms", slot, before->prefix, r->prefix,
                 (long long)now_of(r));
    if (before && why != STOP_NONE) {
        int64_t gap_ms = now_of(r) - g->stopped_ms[slot];
        g->gaps[why]++;
        if (gap_ms > g->longest_gap_ms[why]) g->longest_gap_ms[why] = gap_ms;
    }
    g->moves += before && before != r;
    g->holder[slot] = r;
    g->reason[slot] = STOP_NONE;
    slot_set_add(&r->working, slot);
}

/* Its fence closed: whatever still runs cannot write any more. */
static void end_work(struct replica *r)
{
    stop(r, &r->working, STOP_DIED);
    r->working = r->draining = (struct slot_set){0};
    fence_unref(r->fence);
    r->fence = NULL;
    r->drained_at_ms = 0;
}

static void begin_work(struct replica *r, const struct slot_set *allowed)
{
    for (size_t slot = 0; slot < SHARD_SLOTS; slot++)
        if (slot_set_has(allowed, slot) && !slot_set_has(&r->working, slot)) begin(r, slot);
    size_t runs = slot_set_runs(allowed);
    if (runs > r->group->most_runs) r->group->most_runs = runs;
}

static void drain(struct replica *r, const struct slot_set *lost, int64_t epoch)
{
    int64_t most_ms = r->group->drain_ms;
    r->draining = *lost;
    r->draining_epoch = epoch;
    r->drained_at_ms = now_of(r) + jitter_between(&r->group->server.chance, 0, most_ms + 1);
    if (r->drained_at_ms < r->stuck_until_ms) r->drained_at_ms = r->stuck_until_ms;
    at(r, &r->engine, r->drained_at_ms - now_of(r));
}

static void drained(struct replica *r)
{
    stop(r, &r->draining, STOP_HANDED);
    r->working = slot_set_minus(&r->working, &r->draining);
    r->draining = (struct slot_set){0};
    r->drained_at_ms = 0;
    shard_member_applied(r->member, r->draining_epoch);
    if (r->leaves) shard_member_leave(r->member);
}

static void work(struct replica *r)
{
    struct shard_status status;
    shard_member_get_status(r->member, &status);
    struct slot_set allowed = status.fence && !r->leaves ? status.view->slots : (struct slot_set){0};
    if (r->fence && (r->fence != status.fence || !fence_is_open(r->fence))) end_work(r);
    if (!r->fence && status.fence && fence_is_open(status.fence)) r->fence = fence_ref(status.fence);
    if (!r->fence) allowed = (struct slot_set){0};
    struct slot_set lost = slot_set_minus(&r->working, &allowed);
    if (!slot_set_is_empty(&lost) || (r->leaves && !status.left)) {
        drain(r, &lost, status.view->epoch);
    } else if (status.view->epoch) {
        begin_work(r, &allowed);
        shard_member_applied(r->member, status.view->epoch);
    }
}

static void end_replica(struct replica *r)
{
    shard_member_free(r->member);
    r->member = NULL;
    fence_unref(r->fence);
    r->fence = NULL;
    clock_clear(&r->clock);
    timer_cancel(&r->wake);
    timer_cancel(&r->engine);
    timer_cancel(&r->table);
    for (size_t i = 0; i < TRAFFIC_LINES; i++) shard_wire_clear(&r->wires[i]);
}

static void on_engine(struct timer *timer)
{
    struct replica *r = container_of(timer, struct replica, engine);
    struct shard_status status;
    if (is_frozen(r)) {
        at(r, timer, r->frozen_until_ms - now_of(r));
        return;
    }
    shard_member_get_status(r->member, &status);
    if (status.left) {
        end_replica(r);
        return;
    }
    if (r->fence && !fence_is_open(r->fence)) end_work(r);
    if (r->drained_at_ms && now_of(r) < r->drained_at_ms) {
        at(r, timer, r->drained_at_ms - now_of(r));
        return;
    }
    if (r->drained_at_ms) drained(r);
    work(r);
}

static void on_changed(void *ctx)
{
    struct replica *r = ctx;
    if (!timer_running(&r->engine) || r->drained_at_ms) at(r, &r->engine, 1);
}

/* --- its way to the server */

static void send(void *ctx, enum shard_line line, const struct shard_request *request, shard_done *done,
                 void *done_ctx)
{
    struct replica *r = ctx;
    shard_wire_send(&r->wires[line], request, done, done_ctx);
}

static void cancel(void *ctx, enum shard_line line)
{
    struct replica *r = ctx;
    shard_wire_cancel(&r->wires[line]);
}

/* The watch delivers the newest table; one that is cut begins again a while later. */
static void on_table(struct timer *timer)
{
    struct replica *r = container_of(timer, struct replica, table);
    struct shard_server *server = &r->group->server;
    if (is_frozen(r) || r->is_cut) {
        at(r, timer, r->is_cut ? 1000 : r->frozen_until_ms - now_of(r));
        return;
    }
    if (shard_server_one_in(server, 20)) {
        shard_member_table(r->member, buf_slice(&server->previous));
        at(r, timer, shard_server_latency_ms(server));
        return;
    }
    r->traffic.watch_events++;
    r->traffic.bytes += TABLE_BYTES + server->table.len;
    shard_member_table(r->member, buf_slice(&server->table));
}

static void table_changed(void *ctx)
{
    struct shard_group *g = ctx;
    for (size_t i = 0; i < g->count; i++)
        if (g->replicas[i]->member && !timer_running(&g->replicas[i]->table))
            at(g->replicas[i], &g->replicas[i]->table, shard_server_latency_ms(&g->server));
}

/* --- the group */

void group_open(struct shard_group *group, uint64_t seed)
{
    *group = (struct shard_group){.times = shard_times_default, .drain_ms = 500};
    shard_server_init(&group->server, seed);
    group->server.table_changed = table_changed;
    group->server.ctx = group;
}

void group_close(struct shard_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        if (group->replicas[i]->member) end_replica(group->replicas[i]);
        free(group->replicas[i]);
    }
    shard_server_clear(&group->server);
}

struct replica *group_join(struct shard_group *group)
{
    struct replica *r = NEW(struct replica);
    r->group = group;
    r->clock = (struct clock){.now_ms = replica_now_ms, .wall_us = replica_wall_us, .rearm = rearm};
    r->wake.fn = on_wake;
    r->engine.fn = on_engine;
    r->table.fn = on_table;
    snprintf(r->prefix, sizeof r->prefix, "web-%zu", group->count);
    for (size_t i = 0; i < TRAFFIC_LINES; i++)
        r->wires[i] = (struct shard_wire){.server = &group->server,
                                          .traffic = &r->traffic,
                                          .frozen_until_ms = &r->frozen_until_ms,
                                          .is_cut = &r->is_cut};
    assert_true(group->count < GROUP_MAX);
    group->replicas[group->count++] = r;
    r->member = shard_member_new(&(struct shard_member_options){.prefix = r->prefix,
                                                                .times = group->times,
                                                                .source = {send, cancel, r},
                                                                .clock = &r->clock,
                                                                .seed = jitter_next(&group->server.chance),
                                                                .changed = on_changed,
                                                                .ctx = r});
    shard_member_start(r->member);
    at(r, &r->table, shard_server_latency_ms(&group->server));
    return r;
}

size_t group_living(const struct shard_group *group)
{
    size_t living = 0;
    for (size_t i = 0; i < group->count; i++)
        living += group->replicas[i]->member && !group->replicas[i]->leaves;
    return living;
}

struct replica *group_any(struct shard_group *group)
{
    size_t living = group_living(group);
    if (!living) return NULL;
    size_t nth = (size_t)jitter_between(&group->server.chance, 0, (int64_t)living);
    for (size_t i = 0; i < group->count; i++)
        if (group->replicas[i]->member && !group->replicas[i]->leaves && nth-- == 0)
            return group->replicas[i];
    return NULL;
}

void replica_kill(struct replica *r)
{
    stop(r, &r->working, STOP_DIED);
    end_replica(r);
}

void replica_freeze(struct replica *r, int64_t ms)
{
    stop(r, &r->working, STOP_DIED);
    r->frozen_until_ms = now_of(r) + ms;
    /* It goes on where it was if its Lease lasts. */
    at(r, &r->engine, ms);
}

void replica_leave(struct replica *r)
{
    r->leaves = true;
    on_changed(r);
}

void group_advance(struct shard_group *group, int64_t ms)
{
    virtual_clock_advance(&group->server.world, ms);
}

void assert_group_is_whole(struct shard_group *group)
{
    size_t living = group_living(group), all = 0;
    assert_int_not_equal(living, 0);
    if (!living) return;
    for (size_t i = 0; i < group->count; i++) {
        struct replica *r = group->replicas[i];
        if (!r->member) continue;
        size_t has = slot_set_count(&r->working);
        assert_true(r->fence && fence_is_open(r->fence));
        assert_in_range(has, SHARD_SLOTS / living, (SHARD_SLOTS + living - 1) / living);
        all += has;
    }
    assert_int_equal(all, SHARD_SLOTS);
}

struct shard_traffic group_traffic(const struct shard_group *group)
{
    struct shard_traffic sum = {0};
    for (size_t i = 0; i < group->count; i++) {
        const struct shard_traffic *t = &group->replicas[i]->traffic;
        sum.requests += t->requests;
        sum.renewals += t->renewals;
        sum.lists += t->lists;
        sum.looks += t->looks;
        sum.writes += t->writes;
        sum.watch_events += t->watch_events;
        sum.bytes += t->bytes;
    }
    return sum;
}
