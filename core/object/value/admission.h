/* Admission to a bounded table: everything while it is less than half full, then only what comes again before
 * long, so that a flood of things seen once cannot take the room. Owner: the table that embeds it. May be
 * called from any thread. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ADMISSION_MEMORY = 4096 };

struct admission {
    _Atomic uint32_t seen[ADMISSION_MEMORY]; /* hashes of the last ones turned away */
};

static inline bool admission_allows(struct admission *a, uint32_t hash, size_t count, size_t capacity)
{
    if (count < capacity / 2) return true;
    if (count >= capacity) return false;
    _Atomic uint32_t *seen = &a->seen[hash % ADMISSION_MEMORY];
    if (atomic_load_explicit(seen, memory_order_relaxed) == hash) return true;
    atomic_store_explicit(seen, hash, memory_order_relaxed);
    return false;
}
