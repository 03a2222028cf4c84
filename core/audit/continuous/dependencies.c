/* Looks by index and value, as two lists through one array: those at the same value, and those of the same
 * looker; see dependencies.h. */
#include "audit/continuous/dependencies.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "informer/store/posting_table.h"

struct dependency_index {
    struct dependencies *lookups;
    struct posting_table values;
};

struct look {
    struct dependency_index *index;
    struct posting *posting;
    struct dependent looker;
    int32_t before, after; /* at the same value */
    int32_t next;          /* of the same looker, or free */
};

struct dependencies {
    struct look *items;
    size_t used, count, max;
    int32_t unused; /* the first that is free again */
    uint64_t round; /* of dependencies_begin; a posting that has it was noted in this round */
    struct dependent looker;
    int32_t first;
};

_Static_assert(sizeof(struct look) == DEPENDENCY_BYTES, "DEPENDENCY_BYTES");

struct dependencies *dependencies_new(size_t max)
{
    struct dependencies *lookups = NEW(struct dependencies);
    must(max < INT32_MAX);
    lookups->max = max;
    lookups->unused = lookups->first = DEPENDENCY_NONE;
    return lookups;
}

void dependencies_free(struct dependencies *lookups)
{
    if (!lookups) return;
    free(lookups->items);
    free(lookups);
}

size_t dependencies_count(const struct dependencies *lookups)
{
    return lookups->count;
}

struct dependency_index *dependency_index_new(struct dependencies *lookups)
{
    struct dependency_index *index = NEW(struct dependency_index);
    index->lookups = lookups;
    posting_table_init(&index->values);
    return index;
}

void dependency_index_free(struct dependency_index *index)
{
    must(index->values.count == 0);
    posting_table_clear(&index->values);
    free(index);
}

/* --- noting */

static int32_t take(struct dependencies *lookups)
{
    lookups->count++;
    if (lookups->unused != DEPENDENCY_NONE) {
        int32_t at = lookups->unused;
        lookups->unused = lookups->items[at].next;
        return at;
    }
    array_add(lookups->items, lookups->used);
    return (int32_t)lookups->used - 1;
}

void dependencies_begin(struct dependencies *lookups, const struct dependent *looker)
{
    lookups->looker = *looker;
    lookups->first = DEPENDENCY_NONE;
    lookups->round++;
}

static void link_look(struct dependencies *lookups, int32_t at, struct dependency_index *index,
                      struct posting *posting)
{
    lookups->items[at] = (struct look){.index = index,
                                       .posting = posting,
                                       .looker = lookups->looker,
                                       .before = posting->last,
                                       .after = DEPENDENCY_NONE,
                                       .next = lookups->first};
    if (posting->last == POSTING_NONE)
        posting->first = at;
    else
        lookups->items[posting->last].after = at;
    posting->last = at;
    posting->count++;
    posting->mark = lookups->round;
    lookups->first = at;
}

bool dependencies_note(struct dependency_index *index, struct str value)
{
    struct dependencies *lookups = index->lookups;
    struct posting *posting = posting_table_find(&index->values, value);
    if (posting && posting->mark == lookups->round) return true;
    if (lookups->count == lookups->max) return false;
    link_look(lookups, take(lookups), index, posting ? posting : posting_table_get(&index->values, value));
    return true;
}

int32_t dependencies_end(struct dependencies *lookups)
{
    int32_t first = lookups->first;
    lookups->first = DEPENDENCY_NONE;
    return first;
}

/* --- forgetting */

static void unlink_look(struct dependencies *lookups, const struct look *look)
{
    struct posting *posting = look->posting;
    if (look->before == DEPENDENCY_NONE)
        posting->first = look->after;
    else
        lookups->items[look->before].after = look->after;
    if (look->after == DEPENDENCY_NONE)
        posting->last = look->before;
    else
        lookups->items[look->after].before = look->before;
    if (--posting->count == 0) posting_table_forget(&look->index->values, posting);
}

void dependencies_drop(struct dependencies *lookups, int32_t looks)
{
    while (looks != DEPENDENCY_NONE) {
        struct look *look = &lookups->items[looks];
        int32_t next = look->next;
        unlink_look(lookups, look);
        look->next = lookups->unused;
        lookups->unused = looks;
        lookups->count--;
        looks = next;
    }
}

/* --- who looked */

void dependency_index_each(const struct dependency_index *index, struct str value,
                           void (*fn)(void *ctx, const struct dependent *looker), void *ctx)
{
    const struct posting *posting = posting_table_find(&index->values, value);
    const struct dependencies *lookups = index->lookups;
    for (int32_t at = posting ? posting->first : DEPENDENCY_NONE; at != DEPENDENCY_NONE;
         at = lookups->items[at].after)
        fn(ctx, &lookups->items[at].looker);
}
