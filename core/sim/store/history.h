/* History of one resource: a bounded ring of events that all its watches read by reference, each with the map
 * after it, so that a list at any version in the ring is a lookup. Owner: the resource; guarded by the
 * store's lock. Events may be read until the lock is released. */
#pragma once
#include "sim/store/omap.h"

enum sim_event_type { SIM_ADDED, SIM_MODIFIED, SIM_DELETED };

struct sim_event {
    uint64_t version;
    enum sim_event_type type;
    struct sim_object *object; /* of a deletion: the last state, with the version of the deletion */
    struct sim_object *before; /* NULL of an addition */
    struct omap *map;
};

struct sim_history {
    struct sim_event *ring;
    size_t cap;           /* a power of two */
    uint64_t first, next; /* sequence numbers: the oldest event, and the one to come */
    size_t max_events, max_bytes;
    size_t bytes;       /* texts that only the ring keeps */
    struct omap *base;  /* before the oldest event */
    uint64_t forgotten; /* version up to which events were dropped: a watch from an older one receives 410 */
    uint64_t compacted; /* version below which no list succeeds any more */
};

void sim_history_init(struct sim_history *history, size_t max_events, size_t max_bytes, uint64_t version);
/* Takes the event's references, and drops the oldest events beyond the bounds. */
void sim_history_add(struct sim_history *history, const struct sim_event *event);
/* Finds the sequence number of the first event after `version`; returns false if some were dropped. */
bool sim_history_after(const struct sim_history *history, uint64_t version, uint64_t *sequence);
/* Returns an event; NULL if `sequence` is in the future, or dropped (see `first`). */
const struct sim_event *sim_history_at(const struct sim_history *history, uint64_t sequence);
/* Finds the map at exactly `version`, borrowed; returns false if it is compacted. */
bool sim_history_map(const struct sim_history *history, uint64_t version, struct omap **map);
/* Lists older than `version` are refused from now on, as after a compaction of etcd; watches go on. */
void sim_history_compact(struct sim_history *history, uint64_t version);
/* Drops all events, and everything older than `version`; `map` is the present one. */
void sim_history_expire(struct sim_history *history, uint64_t version, struct omap *map);
void sim_history_clear(struct sim_history *history);
