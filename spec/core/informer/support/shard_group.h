/* Replicas of a sharded group on one virtual clock, each with the product's own member and an engine that
 * takes a while to drain. At each start of a range it checks that nobody else works on it, and measures how
 * long nobody did.
 * Owner: the spec. */
#pragma once
#include "core/informer/support/shard_server.h"

enum { GROUP_MAX = 4000 };

/* Why nobody worked on a slot. */
enum stop_reason { STOP_NONE, STOP_HANDED, STOP_DIED, STOP_REASONS };

struct replica {
    struct shard_group *group;
    char prefix[16];
    struct shard_member *member; /* NULL: it ended */
    struct clock clock;          /* of its threads */
    struct timer wake, engine, table;
    int64_t frozen_until_ms;
    bool is_cut;
    struct shard_wire wires[TRAFFIC_LINES];
    struct shard_traffic traffic;
    struct fence *fence; /* of the work, a reference */
    struct slot_set working;
    int64_t drained_at_ms;  /* 0: nothing drains */
    int64_t stuck_until_ms; /* a script does not end before */
    struct slot_set draining;
    int64_t draining_epoch;
    bool leaves;
};

struct shard_group {
    struct shard_server server;
    struct shard_times times;
    struct replica *replicas[GROUP_MAX];
    size_t count;
    int64_t drain_ms; /* at most, if no script is stuck */
    struct replica *holder[SHARD_SLOTS];
    int64_t stopped_ms[SHARD_SLOTS];
    enum stop_reason reason[SHARD_SLOTS];
    /* Results. */
    int64_t longest_gap_ms[STOP_REASONS];
    size_t gaps[STOP_REASONS];
    size_t moves; /* slots that went from one to another */
    size_t most_runs;
};

void group_open(struct shard_group *group, uint64_t seed);
void group_close(struct shard_group *group);
struct replica *group_join(struct shard_group *group);
size_t group_living(const struct shard_group *group);
/* A living replica, picked at random; NULL: there is none. */
struct replica *group_any(struct shard_group *group);
void replica_kill(struct replica *r);
void replica_freeze(struct replica *r, int64_t ms);
/* Stops it as SIGTERM does: it drains, and releases its Lease. */
void replica_leave(struct replica *r);
void group_advance(struct shard_group *group, int64_t ms);
/* All slots are worked on, by living replicas in shares that differ by one slot at most. */
void assert_group_is_whole(struct shard_group *group);
struct shard_traffic group_traffic(const struct shard_group *group);
