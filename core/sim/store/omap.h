/* Ordered map of objects by key that is never changed: put and remove return a new map that shares all other
 * nodes. A list that is being sent, each page of a list and each event of the history hold their own map for
 * the price of a reference. A weight-balanced tree; NULL is the empty map. Owner: counted references, under
 * the store's lock only. A holder reads its map without a lock. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "sim/object/object.h"

struct omap;

/* Returns the new map, a new reference. `map` is borrowed; `object` is taken. */
struct omap *omap_put(struct omap *map, struct sim_object *object);
/* Returns the new map; a reference to the same map if the key does not exist. */
struct omap *omap_remove(struct omap *map, const char *key);
/* Builds a map from `n` objects with ascending keys, which it takes. */
struct omap *omap_build(struct sim_object *const *objects, size_t n);
struct omap *omap_ref(struct omap *map);
void omap_unref(struct omap *map);

/* Borrowed; NULL when it is not there. */
struct sim_object *omap_get(const struct omap *map, const char *key);
size_t omap_count(const struct omap *map);
/* Returns the object with `rank` smaller ones; borrowed, NULL at the end. */
struct sim_object *omap_at(const struct omap *map, size_t rank);
/* Returns the number of keys smaller than `key`. */
size_t omap_rank(const struct omap *map, const char *key);

enum { OMAP_DEPTH_MAX = 96 };

/* Walks upwards. The map must outlive the cursor. */
struct omap_cursor {
    const struct omap *stack[OMAP_DEPTH_MAX];
    int depth;
};

/* Starts at the first key that is not smaller than `key`. */
void omap_seek(struct omap_cursor *cursor, const struct omap *map, const char *key);
/* Borrowed; NULL at the end. */
struct sim_object *omap_next(struct omap_cursor *cursor);
