/* History of one resource: a bounded ring of events that all its watches read by reference, each with the map
 * as it was after it, so that a list at any version in the ring is a lookup. Owner: the resource; guarded by
 * the store's lock. Events may be read until the lock is given back. */
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
    size_t bytes;       /* texts that are kept for the ring only */
    struct omap *base;  /* before the oldest event */
    uint64_t forgotten; /* version up to which events are gone: a watch from an older one is answered 410 */
    uint64_t compacted; /* version below which no list is answered any more */
};

void sim_history_init(struct sim_history *history, size_t max_events, size_t max_bytes, uint64_t version);
/* Takes the event's references, and drops the oldest events beyond the bounds. */
void sim_history_add(struct sim_history *history, const struct sim_event *event);
/* The sequence number of the first event after `version`; false when some of them are gone. */
bool sim_history_after(const struct sim_history *history, uint64_t version, uint64_t *sequence);
/* NULL when `sequence` is still to come, or gone (see `first`). */
const struct sim_event *sim_history_at(const struct sim_history *history, uint64_t sequence);
/* The map at exactly `version`, borrowed; false when it is compacted. */
bool sim_history_map(const struct sim_history *history, uint64_t version, struct omap **map);
/* Lists older than `version` are refused from now on, as after a compaction of etcd; watches go on. */
void sim_history_compact(struct sim_history *history, uint64_t version);
/* No event is left, and nothing older than `version` is answered; `map` is the present one. */
void sim_history_expire(struct sim_history *history, uint64_t version, struct omap *map);
void sim_history_clear(struct sim_history *history);
