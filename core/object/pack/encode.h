/* Builds packed values from the leaves upwards: finished blobs stand in an area, the values of open maps and
 * arrays wait on a stack, and a finished subtree that is large enough leaves the area for the pool. Owner:
 * the packer, and so the pool's thread. A word that comes out holds, under TAG_LOCAL, its blob's place in the
 * area; it is good for being pushed, and for nothing else. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "object/pack/pool.h"
#include "object/value/key_cache.h"

enum {
    INTERN_WORDS = 12,        /* blobs from this size on are stored once per pool */
    AREA_WORDS_MAX = 1 << 26, /* of one object, subtrees not counted */
    SHAPE_GUESSES = 512,
};
#define ENTRY_COPIED UINT32_MAX /* of the last state, with others at once; see segment.h */

struct pending {
    uint32_t key, value;
    uint32_t start; /* of the area when its key was not yet written; ENTRY_COPIED */
};

struct encoder {
    struct pool *pool;
    uint32_t *area;
    size_t used, area_cap;
    size_t unique;     /* end of the last blob that makes its containers unique */
    size_t referenced; /* behind the place of the last word that refers to a node */
    bool ascends;      /* no key of the map that is closed next comes twice */
    bool moved;        /* blobs of the area are not all where they were written, as keys came twice */
    struct pending *stack;
    size_t depth, stack_cap;
    struct key_cache keys;
    struct admission_kind kind; /* of the object */
    uint32_t
        shape_guess[SHAPE_GUESSES]; /* plus one, 0: none; by the first and the last key and their number */
    uint32_t *fresh; /* nodes created for this object, each with one reference of the encoder */
    size_t fresh_count, fresh_cap;
};

/* Map or array that is being filled. */
struct open {
    size_t depth; /* of the stack */
    size_t start; /* of the area */
};

void encoder_clear(struct encoder *e);
/* Empties the encoder for the next object and releases its references. */
void encoder_reset(struct encoder *e);

/* `field` is the number of the key whose value it is, DICT_NONE when there is none. */
bool encode_string(struct encoder *e, struct str s, uint32_t field, uint32_t *word, struct err *err);
bool encode_int(struct encoder *e, int64_t i, uint32_t *word, struct err *err);
bool encode_uint(struct encoder *e, uint64_t u, uint32_t *word, struct err *err);
/* `bits` of the IEEE 754 number. */
bool encode_double(struct encoder *e, uint64_t bits, uint32_t *word, struct err *err);

static inline struct open encode_open(const struct encoder *e)
{
    return (struct open){e->depth, e->used};
}

void encode_grow_stack(struct encoder *e);

static inline struct pending *encode_push(struct encoder *e)
{
    if (e->depth == e->stack_cap) encode_grow_stack(e);
    return &e->stack[e->depth++];
}

/* Opens an entry of a map, then sets its value. `*field` is the number of the key, DICT_NONE when it has
 * none. */
bool encode_key(struct encoder *e, struct str key, uint32_t *field, struct err *err);
/* Likewise for a key that is stored as it is. */
bool encode_own_key(struct encoder *e, struct str key, struct err *err);
static inline void encode_value(struct encoder *e, uint32_t word)
{
    e->stack[e->depth - 1].value = word;
}

/* Adds an element of an array. */
static inline void encode_item(struct encoder *e, uint32_t word)
{
    encode_push(e)->value = word;
}

/* Closes a map; of duplicate keys the last stays. `intern`: it may become a node. */
bool encode_map(struct encoder *e, struct open open, bool intern, uint32_t *word, struct err *err);
bool encode_array(struct encoder *e, struct open open, bool intern, uint32_t *word, struct err *err);
/* Notes that the value that is added next refers to a node, or that its blobs do, which end here. */
static inline void encode_referenced(struct encoder *e)
{
    e->referenced = e->used + 1;
}

/* Copies the blobs of a value that another object of the pool has. */
bool encode_copy(struct encoder *e, const uint32_t *from, size_t words, struct err *err);
