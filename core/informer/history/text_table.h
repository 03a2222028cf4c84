/* Texts that many versions have, such as paths, names of managers and of scripts: each stored once, counted,
 * and named by a number. Owner: the history. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct text_table {
    struct counted_text *by_text; /* hash table */
    struct counted_text **items;  /* by number */
    size_t count;
    uint32_t *vacant; /* numbers without a text */
    size_t vacant_count;
    size_t bytes; /* of all texts */
};

/* Returns the number of a text, with one more reference. */
uint32_t text_table_ref(struct text_table *table, struct str text);
void text_table_unref(struct text_table *table, uint32_t number);
struct str text_table_get(const struct text_table *table, uint32_t number);
/* Every reference must have been given back. */
void text_table_clear(struct text_table *table);
