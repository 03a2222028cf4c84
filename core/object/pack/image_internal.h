/* Parts of a pool's image, as they are in its file; see image.h. Owner: image_save.c and image_load.c. */
#pragma once
#include <stdint.h>

#include "object/pack/image.h"
#include "object/pack/loan.h"
#include "object/pack/slab.h"

struct image_header {
    uint64_t seed; /* of hashes */
    uint64_t root_bytes;
    uint64_t layout;
    uint32_t first, slabs; /* number of the first slab that blocks are in, and how many follow */
    uint32_t keys, shapes;
};

/* Number that differs when the structs in an image do, should IMAGE_FORMAT have been forgotten. */
static inline uint64_t image_layout(void)
{
    return sizeof(struct root) | sizeof(struct node) << 8 | sizeof(struct section) << 16 |
           sizeof(struct slab) << 24 | (uint64_t)(SLABS / 1024) << 32 | (uint64_t)SLAB_CLASSES << 48 |
           (uint64_t)ROOT_FIELDS << 56;
}

/* In this order behind the header: keys, shapes, a struct image_slab for each slab, the bytes of those that
 * are not vacant, the tables of nodes, of roots and of the latest roots, the groups. */

enum image_slab_kind { IMAGE_VACANT, IMAGE_CELLS, IMAGE_BLOCK };

struct image_slab {
    uint32_t kind;
    uint32_t slabs;    /* of IMAGE_BLOCK: how many the block takes; the others' entries are vacant */
    struct slab state; /* of IMAGE_CELLS */
};
