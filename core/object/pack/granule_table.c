/* Hash to granule; see granule_table.h. */
#include "object/pack/granule_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

enum { SLOTS_MIN = 256 };

static void put(struct granule_table *t, uint64_t slot)
{
    uint32_t at = (uint32_t)slot;
    while (t->slot[at & t->mask] != 0) at++;
    t->slot[at & t->mask] = slot;
}

static void resize(struct granule_table *t, uint32_t slots)
{
    struct granule_table old = *t;
    t->slot = xcalloc(slots, sizeof *t->slot);
    t->mask = slots - 1;
    for (uint32_t i = 0; old.slot && i <= old.mask; i++) {
        if (old.slot[i] != 0) put(t, old.slot[i]);
    }
    free(old.slot);
}

void granule_table_insert(struct granule_table *t, uint32_t hash, uint32_t granule)
{
    if (!t->slot) resize(t, SLOTS_MIN);
    /* Seven eighths full at most: with 32 bits of hash in the slot a probe reads no other memory. */
    if ((uint64_t)(t->count + 1) * 8 > ((uint64_t)t->mask + 1) * 7) resize(t, (t->mask + 1) * 2);
    put(t, (uint64_t)granule << 32 | hash);
    t->count++;
}

/* Fills the gap at `hole` by entries that could no longer be found across it, so that the table needs no
 * marks for deleted entries. */
static void close_gap(struct granule_table *t, uint32_t hole)
{
    for (uint32_t at = (hole + 1) & t->mask; t->slot[at] != 0; at = (at + 1) & t->mask) {
        uint32_t home = (uint32_t)t->slot[at] & t->mask;
        if (((at - home) & t->mask) < ((at - hole) & t->mask)) continue;
        t->slot[hole] = t->slot[at];
        hole = at;
    }
    t->slot[hole] = 0;
}

void granule_table_remove(struct granule_table *t, uint32_t hash, uint32_t granule)
{
    uint64_t wanted = (uint64_t)granule << 32 | hash;
    uint32_t at = hash & t->mask;
    while (t->slot[at] != wanted) {
        must(t->slot[at] != 0);
        at = (at + 1) & t->mask;
    }
    close_gap(t, at);
    t->count--;
    /* Shrinks at a fifth, far below half of the growth limit, so that adds and removals cannot alternate
     * between two sizes. */
    if (t->mask + 1 > SLOTS_MIN && (uint64_t)t->count * 5 < t->mask) resize(t, (t->mask + 1) / 2);
}

size_t granule_table_bytes(const struct granule_table *t)
{
    return t->slot ? ((size_t)t->mask + 1) * sizeof *t->slot : 0;
}

void granule_table_clear(struct granule_table *t)
{
    free(t->slot);
    *t = (struct granule_table){0};
}
