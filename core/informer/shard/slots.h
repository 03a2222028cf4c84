/* Hash space of a sharded group in equal slots: the server's hash (FNV-1a 64 of uid or namespace, contract
 * A-7), sets of slots, and their texts: numbers in the table, ranges of a shardSelector. Owner: the holder of
 * the struct; nothing is allocated. May be used anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { SHARD_SLOT_BITS = 12, SHARD_SLOTS = 1 << SHARD_SLOT_BITS };

/* Returns the slot of an object: the upper bits of its hash, as the ranges of a selector are in the hash's
 * order. */
size_t shard_slot(struct str uid_or_namespace);

struct slot_set {
    uint64_t words[SHARD_SLOTS / 64];
};

static inline bool slot_set_has(const struct slot_set *set, size_t slot)
{
    return set->words[slot / 64] >> slot % 64 & 1;
}

static inline void slot_set_add(struct slot_set *set, size_t slot)
{
    set->words[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* Adds the slots [first, end). */
void slot_set_add_run(struct slot_set *set, size_t first, size_t end);
size_t slot_set_count(const struct slot_set *set);
static inline bool slot_set_is_empty(const struct slot_set *set)
{
    return slot_set_count(set) == 0;
}
bool slot_set_equal(const struct slot_set *a, const struct slot_set *b);
bool slot_set_meets(const struct slot_set *a, const struct slot_set *b);
/* Returns the slots of `a` that `b` lacks. */
struct slot_set slot_set_minus(const struct slot_set *a, const struct slot_set *b);
/* Finds the next run [*first, *end) from `*end` on, which is 0 at the beginning; false: there is none. */
bool slot_set_next_run(const struct slot_set *set, size_t *first, size_t *end);
size_t slot_set_runs(const struct slot_set *set);

/* Appends "0-1023,2048"; nothing for an empty set. */
void slot_set_write(const struct slot_set *set, struct buf *out);
/* Adds the slots of such a text; returns false if it is malformed, has a slot twice or one that is set. */
bool slot_set_read(struct str text, struct slot_set *set);

/* Appends the selector: ranges of `field` ("uid" or "namespace"), `most` at most. If the set has more runs,
 * those with the smallest gaps are joined: the selector then has more than the set, never less. */
void slot_set_selector(const struct slot_set *set, const char *field, size_t most, struct buf *out);
