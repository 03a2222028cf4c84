/* State of a resource that a list shows: the map of the requested version, or the error (contract,
 * Owner: a snapshot has a reference to its map. Both functions take the store's lock. */
#pragma once
#include "sim/store/api.h"
#include "sim/store/params.h"
#include "sim/store/target.h"

struct sim_snapshot {
    struct omap *map;
    uint64_t version; /* what the list carries as its resourceVersion */
    size_t limit;     /* 0: all of it at once */
    char *after;      /* the page begins behind this key; NULL: at the beginning */
    char *prefix;     /* only keys that begin so; "" for all namespaces */
};

/* Takes a snapshot; returns false with a Status. */
bool sim_snapshot_take(struct sim_api *api, const struct sim_target *target,
                       const struct sim_list_options *options, struct sim_snapshot *snapshot,
                       json_t **refusal);
void sim_snapshot_release(struct sim_api *api, struct sim_snapshot *snapshot);

/* Walks what the snapshot shows. */
void sim_snapshot_seek(const struct sim_snapshot *snapshot, struct omap_cursor *cursor);
/* Returns the next object that both selectors match, borrowed; NULL at the end. */
struct sim_object *sim_snapshot_next(const struct sim_snapshot *snapshot, struct omap_cursor *cursor,
                                     const struct sim_list_options *options);
/* Returns the number of objects behind the one with this key. */
size_t sim_snapshot_remaining(const struct sim_snapshot *snapshot, const char *key);
