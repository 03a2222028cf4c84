/* Memory inside a pool's region: cells of fixed sizes in slabs of 64 KiB, runs of complete slabs for larger
 * blocks. Owner: the pool, and so its thread. Addresses are granules (word.h); 0 is never returned. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/value/word.h"

enum {
    SLAB_SHIFT = 16,
    SLAB_BYTES = 1 << SLAB_SHIFT,
    SLABS = 1 << (REGION_SHIFT - SLAB_SHIFT),
    SLAB_CLASSES = 72,
    SLABS_OF_HUGE = (2 << 20) / SLAB_BYTES, /* in a huge page */
    SLAB_CELL_MAX = SLAB_BYTES / 2,
    SLAB_GRANULES = SLAB_BYTES / GRANULE_BYTES,
    SLAB_CELL_NONE = UINT16_MAX,
};

struct slab {
    uint32_t prev, next; /* in the class's list of slabs with room; 0 ends */
    uint16_t class_;
    uint16_t used;  /* cells */
    uint16_t freed; /* first freed cell, in granules from the slab's start; CELL_NONE */
    uint16_t fresh; /* where the part that was never used begins */
};

struct slabs {
    char *region;
    uint32_t first;     /* earlier slabs hold this structure */
    uint32_t limit;     /* slabs from here on may not be used */
    uint32_t top;       /* slabs from here on were never in use */
    uint32_t committed; /* slabs that may be read and written */
    uint32_t vacant_count, dirty_count;
    _Atomic size_t used_bytes;   /* may be read anywhere */
    uint32_t room[SLAB_CLASSES]; /* per class: slabs with a free cell */
    uint64_t vacant[SLABS / 64]; /* below `top` and not in use */
    uint64_t dirty[SLABS / 64];  /* vacant, and not yet returned to the system */
    uint32_t emptying_count, small_count;
    uint64_t emptying[SLABS / 64];              /* in use, and in no list: they get no new cells */
    uint64_t small[SLABS / SLABS_OF_HUGE / 64]; /* huge pages' places that are to have small pages */
    struct slab slab[SLABS];
};

/* Reserves a region and puts `struct slabs` at its beginning, `reserved` bytes behind it for the caller's own
 * use. NULL when the system refuses. `limit_bytes` bounds what may be used, 0: the whole region. */
struct slabs *slabs_new(size_t reserved, size_t limit_bytes);
void slabs_free(struct slabs *slabs);
/* Allocates; returns zero if the region is full or the system has no memory. The content is arbitrary. */
uint32_t slabs_alloc(struct slabs *slabs, size_t bytes);
/* `bytes` as when it was allocated. */
void slabs_release(struct slabs *slabs, uint32_t granule, size_t bytes);
/* Returns the bytes of the cell at the granule, at least those of its allocation: at most SLAB_CELL_MAX. */
size_t slabs_cell_bytes(const struct slabs *slabs, uint32_t granule);
/* Returns the bytes that the system counts as used. */
size_t slabs_resident(const struct slabs *slabs);

/* --- Moves: the caller allocates cells again that are alone in their slabs, and releases them there */

/* Chooses the emptiest slabs of each class, as many as the others of the class have room for. They get no new
 * cells, until all their cells are released or slabs_end_emptying. Returns how many there are. */
uint32_t slabs_begin_emptying(struct slabs *slabs);
/* Ends it, and returns vacant memory to the system. */
void slabs_end_emptying(struct slabs *slabs);
/* Returns whether the cell at the granule should be moved. */
static inline bool slabs_is_emptying(const struct slabs *slabs, uint32_t granule)
{
    uint32_t slab = granule / SLAB_GRANULES;
    return slabs->emptying_count > 0 && (slabs->emptying[slab / 64] >> slab % 64 & 1);
}
/* Returns the bytes of slabs that are in use, without what their cells take. */
size_t slabs_unused(const struct slabs *slabs);

/* --- For images (image.h): slabs as an earlier process had them */

/* The class of blocks of `bytes`, at most SLAB_CELL_MAX, and the bytes of its cells. */
unsigned slab_class(size_t bytes);
size_t slab_class_bytes(unsigned class_);
/* Makes the slabs below `top` usable, vacant and zero, in a region without any block. False if that exceeds
 * the limit, or the system has no memory. */
bool slabs_extend(struct slabs *slabs, uint32_t top);
/* Marks a vacant slab as one of cells, as `state` says, whose bytes it has already; or `count` slabs as one
 * block. */
void slabs_restore_cells(struct slabs *slabs, uint32_t slab, const struct slab *state);
void slabs_restore_block(struct slabs *slabs, uint32_t slab, uint32_t count);
