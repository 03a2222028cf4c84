/* Hash to number, for readers without a lock; see id_table.h. */
#include "object/value/id_table.h"

#include "base/mem.h"

enum { FIRST_SLOTS = 1024 };

static void put(struct id_slots *slots, uint64_t slot)
{
    uint32_t at = (uint32_t)slot;
    while (atomic_load_explicit(&slots->slot[at & slots->mask], memory_order_relaxed) != 0) at++;
    atomic_store_explicit(&slots->slot[at & slots->mask], slot, memory_order_release);
}

static struct id_slots *grow(struct id_table *table, struct id_slots *from)
{
    uint32_t size = from ? (from->mask + 1) * 2 : FIRST_SLOTS;
    struct id_slots *to = xcalloc(1, sizeof *to + size * sizeof to->slot[0]);
    to->mask = size - 1;
    to->outgrown = from;
    for (uint32_t i = 0; from && i <= from->mask; i++) {
        uint64_t slot = atomic_load_explicit(&from->slot[i], memory_order_relaxed);
        if (slot != 0) put(to, slot);
    }
    atomic_store_explicit(&table->slots, to, memory_order_release);
    return to;
}

void id_table_insert(struct id_table *table, uint32_t hash, uint32_t id)
{
    struct id_slots *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    if (!slots || (table->count + 1) * 2 > slots->mask + 1) slots = grow(table, slots);
    put(slots, (uint64_t)(id + 1) << 32 | hash);
    table->count++;
}
