/* The values of an index: a table from a value to its posting, which heads the list of the entries under it.
 * The table knows nothing of these lists; they are index.c's. Owner: whoever embeds it; a posting lives until
 * it is forgotten, at one address. On the engine thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { POSTING_NONE = -1 };

struct posting {
    uint32_t hash;
    uint32_t count;      /* entries under the value */
    int32_t first, last; /* of their list; POSTING_NONE: there are none */
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
/* Postings included. */
void posting_table_clear(struct posting_table *table);
/* NULL when there is none. */
struct posting *posting_table_find(const struct posting_table *table, struct str value);
/* A new one, without entries, when there is none. */
struct posting *posting_table_get(struct posting_table *table, struct str value);
/* Frees it. */
void posting_table_forget(struct posting_table *table, struct posting *posting);
/* Each in turn, in no order, from `*at` 0 on; NULL behind the last. */
struct posting *posting_table_next(const struct posting_table *table, size_t *at);
/* Borrowed from the posting. */
struct str posting_value(const struct posting *posting);
/* Returns an estimate of its bytes. */
size_t posting_table_bytes(const struct posting_table *table);
