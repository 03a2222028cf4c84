/* Internals of slabs: slab.c has cells and vacant slabs, slab_moves.c chooses slabs to empty. Owner: see
 * slab.h. */
#pragma once
#include "object/pack/slab.h"

/* Slabs from which on there are huge pages: below it they would make a small process large. */
enum { SLABS_HUGE_FROM = (16 << 20) / SLAB_BYTES };

static inline void slab_mark(uint64_t *bits, uint32_t slab, bool on)
{
    if (on) {
        bits[slab / 64] |= (uint64_t)1 << slab % 64;
    } else {
        bits[slab / 64] &= ~((uint64_t)1 << slab % 64);
    }
}

static inline bool slab_marked(const uint64_t *bits, uint32_t slab)
{
    return bits[slab / 64] >> slab % 64 & 1;
}

/* Add it to its class's list of slabs with room, and take it out. */
void slab_list_add(struct slabs *slabs, uint32_t slab);
void slab_list_remove(struct slabs *slabs, uint32_t slab);
/* Returns vacant memory to the system, in the longest possible runs, as each call of madvise costs. */
void slabs_give_back(struct slabs *slabs);
/* Allows a huge page again where a vacant slab was the last one. */
void slabs_note_full(struct slabs *slabs, uint32_t slab);
