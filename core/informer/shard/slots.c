/* Slots of the hash space; see slots.h. */
#include "informer/shard/slots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

size_t shard_slot(struct str text)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.n; i++) sum = (sum ^ (unsigned char)text.p[i]) * UINT64_C(0x100000001b3);
    return sum >> (64 - SHARD_SLOT_BITS);
}

void slot_set_add_run(struct slot_set *set, size_t first, size_t end)
{
    for (size_t slot = first; slot < end; slot++) slot_set_add(set, slot);
}

size_t slot_set_count(const struct slot_set *set)
{
    size_t count = 0;
    for (size_t i = 0; i < SHARD_SLOTS / 64; i++) count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

bool slot_set_equal(const struct slot_set *a, const struct slot_set *b)
{
    return memcmp(a->words, b->words, sizeof a->words) == 0;
}

bool slot_set_meets(const struct slot_set *a, const struct slot_set *b)
{
    for (size_t i = 0; i < SHARD_SLOTS / 64; i++)
        if (a->words[i] & b->words[i]) return true;
    return false;
}

struct slot_set slot_set_minus(const struct slot_set *a, const struct slot_set *b)
{
    struct slot_set rest;
    for (size_t i = 0; i < SHARD_SLOTS / 64; i++) rest.words[i] = a->words[i] & ~b->words[i];
    return rest;
}

bool slot_set_next_run(const struct slot_set *set, size_t *first, size_t *end)
{
    size_t slot = *end;
    while (slot < SHARD_SLOTS && !slot_set_has(set, slot))
        slot += set->words[slot / 64] >> slot % 64 ? 1 : 64 - slot % 64;
    *first = slot;
    while (slot < SHARD_SLOTS && slot_set_has(set, slot)) slot++;
    *end = slot;
    return *first < SHARD_SLOTS;
}

size_t slot_set_runs(const struct slot_set *set)
{
    size_t runs = 0;
    for (size_t first, end = 0; slot_set_next_run(set, &first, &end);) runs++;
    return runs;
}

void slot_set_write(const struct slot_set *set, struct buf *out)
{
    const char *comma = "";
    for (size_t first, end = 0; slot_set_next_run(set, &first, &end); comma = ",") {
        buf_printf(out, "%s%zu", comma, first);
        if (end - first > 1) buf_printf(out, "-%zu", end - 1);
    }
}

bool slot_set_read(struct str text, struct slot_set *set)
{
    struct str part, first, last;
    while (text.n && str_cut(&text, ',', &part)) {
        uint64_t from, to;
        last = part;
        str_cut(&last, '-', &first);
        if (!str_to_u64(first, &from)) return false;
        to = from;
        if (last.p && !str_to_u64(last, &to)) return false;
        if (to >= SHARD_SLOTS || from > to) return false;
        for (size_t slot = from; slot <= to; slot++) {
            if (slot_set_has(set, slot)) return false;
            slot_set_add(set, slot);
        }
    }
    return true;
}

/* --- selectors */

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns the size up to which gaps are closed, so that at most `most` ranges are left. */
static size_t gap_to_close(const struct slot_set *set, size_t most)
{
    size_t gaps[SHARD_SLOTS / 2], count = 0, before = 0;
    for (size_t first, end = 0; slot_set_next_run(set, &first, &end); before = end)
        if (before) gaps[count++] = first - before;
    if (count < most) return 0;
    qsort(gaps, count, sizeof *gaps, by_size);
    return gaps[count - most];
}

static void put_range(struct buf *out, const char *field, size_t first, size_t end, bool is_first)
{
    const int shift = 64 - SHARD_SLOT_BITS;
    buf_printf(out, "%sshardRange(object.metadata.%s, '0x%016" PRIx64 "', ", is_first ? "" : " || ", field,
               (uint64_t)first << shift);
    /* The end of the last range does not fit into 64 bits. */
    if (end == SHARD_SLOTS)
        buf_puts(out, "'0x10000000000000000')");
    else
        buf_printf(out, "'0x%016" PRIx64 "')", (uint64_t)end << shift);
}

void slot_set_selector(const struct slot_set *set, const char *field, size_t most, struct buf *out)
{
    size_t first, end = 0, gap = gap_to_close(set, most), from, to;
    bool is_first = true;
    if (!slot_set_next_run(set, &from, &end)) return;
    to = end;
    while (slot_set_next_run(set, &first, &end)) {
        if (first - to > gap) {
            put_range(out, field, from, to, is_first);
            is_first = false;
            from = first;
        }
        to = end;
    }
    put_range(out, field, from, to, is_first);
}
