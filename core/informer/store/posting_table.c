/* Values of an index; see posting_table.h. Open addressing without marks for deleted values. */
#include "informer/store/posting_table.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

enum { SLOTS_MIN = 16 };

void posting_table_init(struct posting_table *table)
{
    *table = (struct posting_table){.slot_count = SLOTS_MIN};
    table->slots = xcalloc(SLOTS_MIN, sizeof *table->slots);
}

void posting_table_clear(struct posting_table *table)
{
    for (size_t i = 0; i < table->slot_count; i++) free(table->slots[i]);
    free(table->slots);
    *table = (struct posting_table){0};
}

struct str posting_value(const struct posting *posting)
{
    return (struct str){posting->text, posting->len};
}

/* Returns the slot of a value, or the empty one where it belongs. */
static size_t find_slot(const struct posting_table *table, struct str value, uint32_t hash)
{
    size_t mask = table->slot_count - 1, at = hash & mask;
    for (; table->slots[at]; at = (at + 1) & mask) {
        const struct posting *p = table->slots[at];
        if (p->hash == hash && str_eq(posting_value(p), value)) break;
    }
    return at;
}

struct posting *posting_table_find(const struct posting_table *table, struct str value)
{
    return table->slots[find_slot(table, value, (uint32_t)hash_str(value))];
}

static void grow_slots(struct posting_table *table)
{
    struct posting **old = table->slots;
    size_t count = table->slot_count, mask = 2 * count - 1;
    table->slot_count = 2 * count;
    table->slots = xcalloc(table->slot_count, sizeof *table->slots);
    for (size_t i = 0; i < count; i++) {
        if (!old[i]) continue;
        size_t at = old[i]->hash & mask;
        while (table->slots[at]) at = (at + 1) & mask;
        table->slots[at] = old[i];
    }
    free(old);
}

struct posting *posting_table_get(struct posting_table *table, struct str value)
{
    uint32_t hash = (uint32_t)hash_str(value);
    size_t at = find_slot(table, value, hash);
    if (table->slots[at]) return table->slots[at];
    if (table->count >= table->slot_count / 4 * 3) {
        grow_slots(table);
        at = find_slot(table, value, hash);
    }
    struct posting *p = xcalloc(1, sizeof *p + value.n);
    p->hash = hash;
    p->first = p->last = POSTING_NONE;
    p->len = (uint32_t)value.n;
    if (value.n) memcpy(p->text, value.p, value.n);
    table->slots[at] = p;
    table->count++;
    table->text_bytes += value.n;
    return p;
}

/* Removes a value and moves up those behind it that could no longer be found across the empty slot. */
void posting_table_forget(struct posting_table *table, struct posting *posting)
{
    size_t mask = table->slot_count - 1;
    size_t free_at = find_slot(table, posting_value(posting), posting->hash), at = free_at;
    for (at = (at + 1) & mask; table->slots[at]; at = (at + 1) & mask) {
        size_t home = table->slots[at]->hash & mask;
        if (((at - home) & mask) < ((at - free_at) & mask)) continue;
        table->slots[free_at] = table->slots[at];
        free_at = at;
    }
    table->slots[free_at] = NULL;
    table->count--;
    table->text_bytes -= posting->len;
    free(posting);
}

struct posting *posting_table_next(const struct posting_table *table, size_t *at)
{
    while (*at < table->slot_count) {
        struct posting *p = table->slots[(*at)++];
        if (p) return p;
    }
    return NULL;
}

size_t posting_table_bytes(const struct posting_table *table)
{
    return table->slot_count * sizeof *table->slots + table->count * sizeof(struct posting) +
           table->text_bytes;
}
