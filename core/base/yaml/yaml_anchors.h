/* Anchors of a YAML document with their values as JSON. The cost of a lookup does not depend on their number.
 * Owner: the caller; zero-initialised is empty and valid. Texts borrow from it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* The depth is that of packed objects, so that no file is read that cannot be kept. */
enum { YAML_DEPTH_MAX = 100, YAML_ANCHORS_MAX = 10000, YAML_ANCHOR_CHAINS = 4096 };

struct yaml_anchor {
    char *name;
    struct buf json;
    size_t from;    /* start in the output */
    int depth;      /* containers around it */
    bool open;      /* its value has not ended yet */
    uint32_t older; /* the previous one of its chain, from 1 */
};

struct yaml_anchors {
    struct yaml_anchor *anchor;
    size_t count, bytes;
    bool is_full;                      /* the limit was exceeded: names cannot be resolved any more */
    uint32_t open[YAML_DEPTH_MAX + 1]; /* numbers of open ones, each inside the one before */
    size_t open_count;
    uint32_t chain[YAML_ANCHOR_CHAINS]; /* by the name's hash: the newest, from 1; 0: none */
};

enum yaml_anchor_state { YAML_ANCHOR_KNOWN, YAML_ANCHOR_UNKNOWN, YAML_ANCHOR_OPEN };

/* Names the value that begins at `from` in the output; `depth` is that of the containers around it, below
 * YAML_DEPTH_MAX. */
void yaml_anchors_begin(struct yaml_anchors *anchors, const char *name, int depth, size_t from);
/* Ends a value with `depth` containers around it: keeps the texts of anchors that begin there, or deeper, up
 * to `max` bytes of all. */
void yaml_anchors_end(struct yaml_anchors *anchors, int depth, struct str text, size_t max);
/* Forgets anchors that are still open. */
void yaml_anchors_abandon(struct yaml_anchors *anchors);
enum yaml_anchor_state yaml_anchors_find(const struct yaml_anchors *anchors, const char *name,
                                         struct str *json);
void yaml_anchors_clear(struct yaml_anchors *anchors);

/* --- Keys of open YAML maps: a map may have each of them once. The cost of a key does not depend on their
 * number. Owner: the caller; zero-initialised is empty and valid. */

struct yaml_key {
    size_t from, length; /* in `text` */
    uint32_t older;      /* the previous one of its chain, from 1 */
    int depth;           /* maps and arrays around it */
};

struct yaml_keys {
    struct buf text;
    struct yaml_key *key; /* those of a map after those of the maps around it */
    size_t count, room;   /* `room`: a power of two; also the number of chains */
    uint32_t *chain;      /* by hash: the newest, from 1; 0: none */
};

/* Adds a key of the map at this depth. Returns false if the map has it already. */
bool yaml_keys_add(struct yaml_keys *keys, int depth, struct str key);
/* Removes the keys of maps at this depth and below, which have ended. */
void yaml_keys_close(struct yaml_keys *keys, int depth);
void yaml_keys_clear(struct yaml_keys *keys);
