/* A ConfigMap of states (state_maps.h) as it was last seen: its version, and the sum of each state in it.
 * They change together only: who writes with the version knows what it overwrites. Owner: state_maps.c. On
 * the engine thread. One that has a place and is else zeroed is valid, and not known. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "object/pack/pool.h"
#include "script/view/state_store.h"

struct state_map {
    char *place;   /* behind the prefix of the name */
    bool is_known; /* the rest is what the server has, as far as anybody knows */
    bool is_own;   /* a request of this process made the version, and was answered */
    char *version; /* NULL: there is no ConfigMap */
    struct map_part {
        char *state;
        size_t bytes;
        char sum[STATE_SUM_MAX]; /* "": removed, or no base64 */
    } * parts;
    size_t count;
};

/* Notes what a request returned, a read or a change by this process (`is_own`); NULL: there is no ConfigMap.
 * Appends the value of one state; returns false if there is none, or one that is no base64. */
bool state_map_see(struct state_map *map, const struct root *object, bool is_own, const char *state,
                   struct buf *value);
/* Notes that this process has replaced a state, or removed it (`bytes.p` is NULL), which made the version;
 * without a version nothing is known any more. */
void state_map_wrote(struct state_map *map, struct str version, const char *state, struct str bytes);
/* Notes that nobody knows any more what the server has: a request had no answer, or failed. */
void state_map_forget(struct state_map *map);
/* Returns the sum of a state (hash_lasting); "": there is none. */
const char *state_map_sum(const struct state_map *map, const char *state);
/* Returns the bytes of all states but one. */
size_t state_map_others(const struct state_map *map, const char *state);
void state_map_clear(struct state_map *map);
