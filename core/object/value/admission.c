/* Shares of a bounded table; see admission.h. */
#include "object/value/admission.h"

#include "base/log.h"

enum { WAYS = 4 };

/* Returns whether the hash is among the last ones turned away, and notes it. A hash has
 * several places, taken in turn, so that two entries cannot push each other out for ever. */
static bool comes_again(struct admission *a, uint32_t hash)
{
    _Atomic uint32_t *seen = &a->seen[hash % (ADMISSION_MEMORY / WAYS) * WAYS];
    for (size_t i = 0; i < WAYS; i++)
        if (atomic_load_explicit(&seen[i], memory_order_relaxed) == hash) return true;
    uint32_t turn = atomic_fetch_add_explicit(&a->turn, 1, memory_order_relaxed);
    atomic_store_explicit(&seen[turn % WAYS], hash, memory_order_relaxed);
    return false;
}

static void log_full(struct admission *a, const struct admission_kind *kind, uint32_t admitted, size_t count)
{
    if (atomic_exchange_explicit(&a->logged, true, memory_order_relaxed)) return;
    log_warn("Rare entries of a kind exceed its share of a table, so its objects need more memory",
             F("table", a->table), FS("kind", kind ? kind->name : (struct str){0}), FI("entries", admitted),
             FI("allEntries", count));
}

bool admission_allows(struct admission *a, uint32_t hash, const struct admission_kind *kind, size_t count,
                      size_t capacity)
{
    _Atomic uint32_t *admitted = &a->admitted[kind ? kind->number : 0];
    uint32_t mine = atomic_load_explicit(admitted, memory_order_relaxed);
    size_t left = capacity - count;
    if (mine >= left / ADMISSION_NEW) {
        log_full(a, kind, mine, count);
        if (!comes_again(a, hash) || mine >= left / ADMISSION_AGAIN) return false;
    }
    atomic_fetch_add_explicit(admitted, 1, memory_order_relaxed);
    return true;
}
