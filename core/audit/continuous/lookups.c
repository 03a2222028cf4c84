/* Looks by index and value, as two lists through one array: those at the same value, and those of the same
 * looker; see lookups.h. */
#include "audit/continuous/lookups.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "informer/store/posting_table.h"

struct lookup_index {
    struct lookups *lookups;
    struct posting_table values;
};

struct look {
    struct lookup_index *index;
    struct posting *posting;
    struct looker looker;
    int32_t before, after; /* at the same value */
    int32_t next;          /* of the same looker, or free */
};

struct lookups {
    struct look *items;
    size_t cap, used, count, max;
    int32_t unused; /* the first that is free again */
    uint64_t round; /* of lookups_begin; a posting that has it was noted in this round */
    struct looker looker;
    int32_t first;
};

_Static_assert(sizeof(struct look) == LOOKUP_BYTES, "LOOKUP_BYTES");

struct lookups *lookups_new(size_t max)
{
    struct lookups *lookups = NEW(struct lookups);
    must(max < INT32_MAX);
    lookups->max = max;
    lookups->unused = lookups->first = LOOKUP_NONE;
    return lookups;
}

void lookups_free(struct lookups *lookups)
{
    if (!lookups) return;
    free(lookups->items);
    free(lookups);
}

size_t lookups_count(const struct lookups *lookups)
{
    return lookups->count;
}

struct lookup_index *lookup_index_new(struct lookups *lookups)
{
    struct lookup_index *index = NEW(struct lookup_index);
    index->lookups = lookups;
    posting_table_init(&index->values);
    return index;
}

void lookup_index_free(struct lookup_index *index)
{
    must(index->values.count == 0);
    posting_table_clear(&index->values);
    free(index);
}

/* --- noting */

static int32_t take(struct lookups *lookups)
{
    lookups->count++;
    if (lookups->unused != LOOKUP_NONE) {
        int32_t at = lookups->unused;
        lookups->unused = lookups->items[at].next;
        return at;
    }
    if (lookups->used == lookups->cap) {
        lookups->cap = lookups->cap ? lookups->cap * 2 : 64;
        lookups->items = xrealloc(lookups->items, lookups->cap * sizeof *lookups->items);
    }
    return (int32_t)lookups->used++;
}

void lookups_begin(struct lookups *lookups, const struct looker *looker)
{
    lookups->looker = *looker;
    lookups->first = LOOKUP_NONE;
    lookups->round++;
}

static void link_look(struct lookups *lookups, int32_t at, struct lookup_index *index,
                      struct posting *posting)
{
    lookups->items[at] = (struct look){.index = index,
                                       .posting = posting,
                                       .looker = lookups->looker,
                                       .before = posting->last,
                                       .after = LOOKUP_NONE,
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

bool lookups_note(struct lookup_index *index, struct str value)
{
    struct lookups *lookups = index->lookups;
    struct posting *posting = posting_table_find(&index->values, value);
    if (posting && posting->mark == lookups->round) return true;
    if (lookups->count == lookups->max) return false;
    link_look(lookups, take(lookups), index, posting ? posting : posting_table_get(&index->values, value));
    return true;
}

int32_t lookups_end(struct lookups *lookups)
{
    int32_t first = lookups->first;
    lookups->first = LOOKUP_NONE;
    return first;
}

/* --- forgetting */

static void unlink_look(struct lookups *lookups, const struct look *look)
{
    struct posting *posting = look->posting;
    if (look->before == LOOKUP_NONE)
        posting->first = look->after;
    else
        lookups->items[look->before].after = look->after;
    if (look->after == LOOKUP_NONE)
        posting->last = look->before;
    else
        lookups->items[look->after].before = look->before;
    if (--posting->count == 0) posting_table_forget(&look->index->values, posting);
}

void lookups_drop(struct lookups *lookups, int32_t looks)
{
    while (looks != LOOKUP_NONE) {
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

void lookup_index_each(const struct lookup_index *index, struct str value,
                       void (*fn)(void *ctx, const struct looker *looker), void *ctx)
{
    const struct posting *posting = posting_table_find(&index->values, value);
    const struct lookups *lookups = index->lookups;
    for (int32_t at = posting ? posting->first : LOOKUP_NONE; at != LOOKUP_NONE;
         at = lookups->items[at].after)
        fn(ctx, &lookups->items[at].looker);
}
