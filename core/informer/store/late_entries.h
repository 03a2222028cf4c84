/* Entries of a store that an index has yet to look at, oldest first, each once. Owner: the store, one for
 * each index, on the engine thread. Zero-initialized it is empty. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct late_entries {
    uint32_t *queue; /* from `first` on; those without a mark were dropped */
    size_t first, count, cap;
    uint8_t *marks; /* by entry */
    size_t mark_count;
    size_t left; /* entries with a mark */
};

void late_add(struct late_entries *late, uint32_t entry);
void late_drop(struct late_entries *late, uint32_t entry);
/* Sets the oldest entry, which stays; false if there is none. */
bool late_first(struct late_entries *late, uint32_t *entry);
/* See index_renumber. */
void late_renumber(struct late_entries *late, const uint32_t *numbers, size_t count);
void late_clear(struct late_entries *late);
