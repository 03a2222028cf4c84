/* Index over the keys of a large map; see map_index.h. */
#include "object/value/map_index.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "object/value/word.h"

enum { INDEX_FROM = 32 };

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct map_index map_index_make(struct value map)
{
    struct map_index index = {map, NULL};
    size_t count = value_count(map);
    if (count < INDEX_FROM || blob_kind(map.word) != BLOB_MAP_OWN) return index;
    index.order = xmalloc(count * sizeof *index.order);
    for (size_t i = 0; i < count; i++) {
        struct str key;
        struct text text;
        value_entry(map, i, &key, &text);
        index.order[i] = hash_str(key) << 32 | i;
    }
    qsort(index.order, count, sizeof *index.order, by_number);
    return index;
}

struct value map_index_find(const struct map_index *index, struct str key)
{
    if (!index->order) return value_field(index->map, key);
    uint64_t wanted = hash_str(key) << 32;
    size_t count = value_count(index->map), low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->order[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < count && index->order[low] >> 32 == wanted >> 32; low++) {
        struct str name;
        struct text text;
        struct value found = value_entry(index->map, (uint32_t)index->order[low], &name, &text);
        if (str_eq(name, key)) return found;
    }
    return value_absent;
}

void map_index_clear(struct map_index *index)
{
    free(index->order);
    index->order = NULL;
}
