/* Values of an index: a table from a value to its posting, which heads the list of the entries under it. The
 * table does not read these lists; they belong to index.c. Owner: the struct that embeds it; a posting stays
 * at one address until it is forgotten. On the engine thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { POSTING_NONE = -1 };

struct posting {
    uint32_t hash;
    uint32_t count;      /* entries under the value */
    int32_t first, last; /* of their list; POSTING_NONE if it is empty */
    uint64_t mark;       /* of the index: the round in which the value was last seen */
    uint32_t len;
    char text[];
};

struct posting_table {
    struct posting **slots;
    size_t slot_count, count; /* slots are a power of two */
    size_t text_bytes;
};

void posting_table_init(struct posting_table *table);
/* Frees the table with its postings. */
void posting_table_clear(struct posting_table *table);
/* Returns the posting of a value, or NULL. */
struct posting *posting_table_find(const struct posting_table *table, struct str value);
/* Returns the posting of a value; creates it, without entries, if missing. */
struct posting *posting_table_get(struct posting_table *table, struct str value);
/* Removes and frees a posting. */
void posting_table_forget(struct posting_table *table, struct posting *posting);
/* Returns the next posting, in no order, from `*at` 0 on; NULL after the last. */
struct posting *posting_table_next(const struct posting_table *table, size_t *at);
/* Returns the value, borrowed from the posting. */
struct str posting_value(const struct posting *posting);
/* Returns an estimate of its bytes. */
size_t posting_table_bytes(const struct posting_table *table);
