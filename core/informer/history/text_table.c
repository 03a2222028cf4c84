/* Counted texts; see text_table.h. */
#include "informer/history/text_table.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/must.h"

/* Paths have keys that users choose. */
#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned)hash_bytes(key, len))
#include <uthash.h>

struct counted_text {
    UT_hash_handle hh;
    uint32_t number, refs;
    struct str text; /* stands behind the struct */
};

uint32_t text_table_ref(struct text_table *table, struct str text)
{
    struct counted_text *entry;
    if (!text.p) text = STR("");
    HASH_FIND(hh, table->by_text, text.p, text.n, entry);
    if (entry) {
        entry->refs++;
        return entry->number;
    }
    entry = xcalloc(1, sizeof *entry + text.n + 1);
    char *copy = (char *)(entry + 1);
    memcpy(copy, text.p, text.n);
    entry->text = (struct str){copy, text.n};
    entry->refs = 1;
    if (table->vacant_count > 0) {
        entry->number = table->vacant[--table->vacant_count];
        table->items[entry->number] = entry;
    } else {
        entry->number = (uint32_t)table->count;
        *array_add(table->items, table->count) = entry;
    }
    HASH_ADD_KEYPTR(hh, table->by_text, entry->text.p, entry->text.n, entry);
    table->bytes += sizeof *entry + text.n;
    return entry->number;
}

void text_table_unref(struct text_table *table, uint32_t number)
{
    struct counted_text *entry = table->items[number];
    must(entry && entry->refs > 0);
    if (--entry->refs > 0) return;
    HASH_DEL(table->by_text, entry);
    table->bytes -= sizeof *entry + entry->text.n;
    table->items[number] = NULL;
    *array_add(table->vacant, table->vacant_count) = number;
    free(entry);
}

struct str text_table_get(const struct text_table *table, uint32_t number)
{
    return table->items[number]->text;
}

void text_table_clear(struct text_table *table)
{
    must(!table->by_text);
    free(table->items);
    free(table->vacant);
    *table = (struct text_table){0};
}
