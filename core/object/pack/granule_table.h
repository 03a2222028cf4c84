/* Set of interned granules by hash: open addressing over pairs of 32 bits of hash and a granule. Owner: the
 * pool, and so its thread. A zeroed one is empty and valid. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct granule_table {
    uint64_t *slot; /* granule << 32 | hash; 0: empty */
    uint32_t mask, count;
};

/* Steps through the granules stored under `hash`: start with `*at` = hash; 0 ends. */
static inline uint32_t granule_table_next(const struct granule_table *t, uint32_t hash, uint32_t *at)
{
    if (!t->slot) return 0;
    for (;;) {
        uint64_t slot = t->slot[*at & t->mask];
        if (slot == 0) return 0;
        ++*at;
        if ((uint32_t)slot == hash) return (uint32_t)(slot >> 32);
    }
}

void granule_table_insert(struct granule_table *t, uint32_t hash, uint32_t granule);
/* Removes an entry, which must exist. */
void granule_table_remove(struct granule_table *t, uint32_t hash, uint32_t granule);
size_t granule_table_bytes(const struct granule_table *t);
void granule_table_clear(struct granule_table *t);
