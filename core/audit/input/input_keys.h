/* The keys of the maps of YAML that are open: a map has each of them once. What a key costs does not depend
 * on how many there are. Owner: whoever holds the struct; zero-initialised is empty and valid. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct input_key {
    size_t from, length; /* in `text` */
    uint32_t older;      /* the one before it in its chain, counted from 1 */
    int depth;           /* maps and arrays around it */
};

struct input_keys {
    struct buf text;
    struct input_key *key; /* those of a map behind those of the maps around it */
    size_t count, room;
    uint32_t *chain; /* by hash: the newest, counted from 1; 0: none */
    size_t chains;   /* a power of two */
};

/* A key of the map at this depth. False: it has that already. */
bool input_keys_add(struct input_keys *keys, int depth, struct str key);
/* The maps at this depth and below have ended. */
void input_keys_close(struct input_keys *keys, int depth);
void input_keys_clear(struct input_keys *keys);
