/* From hashes to small numbers: what the key dictionary and the shape table look up by.
 * Owner: the table that embeds it. Lookups need no lock and may run beside an insertion; insertions exclude
 * each other by the owner's mutex. Outgrown slots are kept, as a reader may still be in them: together less
 * than the live ones. */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define ID_NONE UINT32_MAX

struct id_slots {
    struct id_slots *outgrown;
    uint32_t mask;
    _Atomic uint64_t slot[]; /* (id + 1) << 32 | hash; 0: empty */
};

struct id_table {
    _Atomic(struct id_slots *) slots;
    uint32_t count;
};

/* What one lookup searches from beginning to end; NULL before the first insertion. */
static inline struct id_slots *id_table_slots(struct id_table *table)
{
    return atomic_load_explicit(&table->slots, memory_order_acquire);
}

/* Steps through the ids stored under `hash`: start with `*at` = hash; ID_NONE ends. */
static inline uint32_t id_slots_next(struct id_slots *slots, uint32_t hash, uint32_t *at)
{
    while (slots) {
        uint64_t slot = atomic_load_explicit(&slots->slot[*at & slots->mask], memory_order_acquire);
        if (slot == 0) return ID_NONE;
        ++*at;
        if ((uint32_t)slot == hash) return (uint32_t)(slot >> 32) - 1;
    }
    return ID_NONE;
}

void id_table_insert(struct id_table *table, uint32_t hash, uint32_t id);
