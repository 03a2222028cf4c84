/* Anchors of a YAML document, and what they stand for as JSON. What a question costs does not depend on how
 * many there are. Owner: whoever holds the struct; zero-initialised is empty and valid. Texts borrow from it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "object/pack/pack.h"

enum { YAML_ANCHORS_MAX = 10000, YAML_ANCHOR_CHAINS = 4096 };

struct yaml_anchor {
    char *name;
    struct buf json;
    size_t from;    /* where it begins in the text that is made */
    int depth;      /* containers around it */
    bool open;      /* its end is not there yet */
    uint32_t older; /* the one before it in its chain, counted from 1 */
};

struct yaml_anchors {
    struct yaml_anchor *anchor;
    size_t count, bytes;
    bool is_full;                      /* there were more: none is known any more */
    uint32_t open[PACK_DEPTH_MAX + 1]; /* numbers of those that are, each within the one before */
    size_t open_count;
    uint32_t chain[YAML_ANCHOR_CHAINS]; /* by the name's hash: the newest, counted from 1; 0: none */
};

enum yaml_anchor_state { YAML_ANCHOR_KNOWN, YAML_ANCHOR_UNKNOWN, YAML_ANCHOR_OPEN };

/* Gives the name to the value that begins at `from` in the text; `depth` is that of the containers around it,
 * below PACK_DEPTH_MAX. */
void yaml_anchors_begin(struct yaml_anchors *anchors, const char *name, int depth, size_t from);
/* A value with `depth` containers around it has ended: the texts of anchors that begin there, or deeper, are
 * kept, when they are not too much: at most `max` bytes of all. */
void yaml_anchors_end(struct yaml_anchors *anchors, int depth, struct str text, size_t max);
/* Forgets anchors that are still open. */
void yaml_anchors_abandon(struct yaml_anchors *anchors);
enum yaml_anchor_state yaml_anchors_find(const struct yaml_anchors *anchors, const char *name,
                                         struct str *json);
void yaml_anchors_clear(struct yaml_anchors *anchors);

/* --- The keys of the maps of YAML that are open: a map has each of them once. What a key costs does not
 * depend on how many there are. Owner: whoever holds the struct; zero-initialised is empty and valid. */

struct yaml_key {
    size_t from, length; /* in `text` */
    uint32_t older;      /* the one before it in its chain, counted from 1 */
    int depth;           /* maps and arrays around it */
};

struct yaml_keys {
    struct buf text;
    struct yaml_key *key; /* those of a map behind those of the maps around it */
    size_t count, room;   /* a power of two, and so many chains */
    uint32_t *chain;      /* by hash: the newest, counted from 1; 0: none */
};

/* A key of the map at this depth. False: it has that already. */
bool yaml_keys_add(struct yaml_keys *keys, int depth, struct str key);
/* The maps at this depth and below have ended. */
void yaml_keys_close(struct yaml_keys *keys, int depth);
void yaml_keys_clear(struct yaml_keys *keys);
