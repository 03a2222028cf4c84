/* Dependencies in one array with two lists through it: all of one value, and all of one dependent; see
 * dependencies.h. */
#include "audit/continuous/dependencies.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/must.h"
#include "informer/store/posting_table.h"

struct dependency_index {
    struct dependencies *dependencies;
    struct posting_table values;
};

struct dependency {
    struct dependency_index *index;
    struct posting *posting;
    struct dependent dependent;
    int32_t before, after; /* at the same value */
    int32_t next;          /* of the same dependent, or free */
};

struct dependencies {
    struct dependency *items;
    size_t used, count, max;
    int32_t unused; /* first free item */
    uint64_t round; /* counts dependencies_begin; a posting marked with it is already recorded */
    struct dependent dependent;
    int32_t first;
};

_Static_assert(sizeof(struct dependency) == DEPENDENCY_BYTES, "DEPENDENCY_BYTES");

struct dependencies *dependencies_new(size_t max)
{
    struct dependencies *dependencies = NEW(struct dependencies);
    must(max < INT32_MAX);
    dependencies->max = max;
    dependencies->unused = dependencies->first = DEPENDENCY_NONE;
    return dependencies;
}

void dependencies_free(struct dependencies *dependencies)
{
    if (!dependencies) return;
    free(dependencies->items);
    free(dependencies);
}

size_t dependencies_count(const struct dependencies *dependencies)
{
    return dependencies->count;
}

struct dependency_index *dependency_index_new(struct dependencies *dependencies)
{
    struct dependency_index *index = NEW(struct dependency_index);
    index->dependencies = dependencies;
    posting_table_init(&index->values);
    return index;
}

void dependency_index_free(struct dependency_index *index)
{
    must(index->values.count == 0);
    posting_table_clear(&index->values);
    free(index);
}

/* --- recording */

static int32_t take(struct dependencies *dependencies)
{
    dependencies->count++;
    if (dependencies->unused != DEPENDENCY_NONE) {
        int32_t at = dependencies->unused;
        dependencies->unused = dependencies->items[at].next;
        return at;
    }
    array_add(dependencies->items, dependencies->used);
    return (int32_t)dependencies->used - 1;
}

void dependencies_begin(struct dependencies *dependencies, const struct dependent *dependent)
{
    dependencies->dependent = *dependent;
    dependencies->first = DEPENDENCY_NONE;
    dependencies->round++;
}

static void link_dependency(struct dependencies *dependencies, int32_t at, struct dependency_index *index,
                            struct posting *posting)
{
    dependencies->items[at] = (struct dependency){.index = index,
                                                  .posting = posting,
                                                  .dependent = dependencies->dependent,
                                                  .before = posting->last,
                                                  .after = DEPENDENCY_NONE,
                                                  .next = dependencies->first};
    if (posting->last == POSTING_NONE)
        posting->first = at;
    else
        dependencies->items[posting->last].after = at;
    posting->last = at;
    posting->count++;
    posting->mark = dependencies->round;
    dependencies->first = at;
}

bool dependencies_note(struct dependency_index *index, struct str value)
{
    struct dependencies *dependencies = index->dependencies;
    struct posting *posting = posting_table_find(&index->values, value);
    /* A rule may look up the same value in a loop: the mark finds that without a search. */
    if (posting && posting->mark == dependencies->round) return true;
    if (dependencies->count == dependencies->max) return false;
    link_dependency(dependencies, take(dependencies), index,
                    posting ? posting : posting_table_get(&index->values, value));
    return true;
}

int32_t dependencies_end(struct dependencies *dependencies)
{
    int32_t first = dependencies->first;
    dependencies->first = DEPENDENCY_NONE;
    return first;
}

/* --- dropping */

static void unlink_dependency(struct dependencies *dependencies, const struct dependency *dependency)
{
    struct posting *posting = dependency->posting;
    if (dependency->before == DEPENDENCY_NONE)
        posting->first = dependency->after;
    else
        dependencies->items[dependency->before].after = dependency->after;
    if (dependency->after == DEPENDENCY_NONE)
        posting->last = dependency->before;
    else
        dependencies->items[dependency->after].before = dependency->before;
    if (--posting->count == 0) posting_table_forget(&dependency->index->values, posting);
}

void dependencies_drop(struct dependencies *dependencies, int32_t first_dependency)
{
    while (first_dependency != DEPENDENCY_NONE) {
        struct dependency *dependency = &dependencies->items[first_dependency];
        int32_t next = dependency->next;
        unlink_dependency(dependencies, dependency);
        dependency->next = dependencies->unused;
        dependencies->unused = first_dependency;
        dependencies->count--;
        first_dependency = next;
    }
}

/* --- dependents */

void dependency_index_each(const struct dependency_index *index, struct str value,
                           void (*fn)(void *ctx, const struct dependent *dependent), void *ctx)
{
    const struct posting *posting = posting_table_find(&index->values, value);
    const struct dependencies *dependencies = index->dependencies;
    for (int32_t at = posting ? posting->first : DEPENDENCY_NONE; at != DEPENDENCY_NONE;
         at = dependencies->items[at].after)
        fn(ctx, &dependencies->items[at].dependent);
}
