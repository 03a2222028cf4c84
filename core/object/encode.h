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
#include "object/pool.h"

enum {
    INTERN_WORDS = 16,        /* blobs from this size on are stored once per pool */
    AREA_WORDS_MAX = 1 << 26, /* of one object, subtrees not counted */
};

struct pending {
    uint32_t key, value;
    uint32_t start; /* of the area when its key was not yet written */
};

struct encoder {
    struct pool *pool;
    uint32_t *area;
    size_t used, area_cap;
    struct pending *stack;
    size_t depth, stack_cap;
    uint32_t *fresh; /* nodes made for this object, each with one reference of ours */
    size_t fresh_count, fresh_cap;
};

/* A map or array that is being filled. */
struct open {
    size_t depth; /* of the stack */
    size_t start; /* of the area */
};

void encoder_clear(struct encoder *e);
/* Empties it for the next object and gives up the references it holds. */
void encoder_reset(struct encoder *e);

bool encode_string(struct encoder *e, struct str s, uint32_t *word, struct err *err);
bool encode_int(struct encoder *e, int64_t i, uint32_t *word, struct err *err);
bool encode_uint(struct encoder *e, uint64_t u, uint32_t *word, struct err *err);
/* `bits` of the IEEE 754 number. */
bool encode_double(struct encoder *e, uint64_t bits, uint32_t *word, struct err *err);

struct open encode_open(const struct encoder *e);
/* Opens an entry of a map, then sets its value. */
bool encode_key(struct encoder *e, struct str key, struct err *err);
void encode_value(struct encoder *e, uint32_t word);
/* An element of an array. */
void encode_item(struct encoder *e, uint32_t word);
/* Closes it: of keys that came twice the last stays. `intern` says whether it may leave the area. */
bool encode_map(struct encoder *e, struct open open, bool intern, uint32_t *word, struct err *err);
bool encode_array(struct encoder *e, struct open open, bool intern, uint32_t *word, struct err *err);
