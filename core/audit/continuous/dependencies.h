/* Tracks which results depend on which other objects. While a rule is evaluated, each lookup is recorded with
 * its index and value; when objects under that value change, the dependent results are evaluated again. A
 * lookup takes DEPENDENCY_BYTES, and each value its text and a posting. Owner: continuous.c, on the engine
 * thread. Callbacks may not call back. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct dependencies;
struct dependency_index; /* what can be asked for a value */

/* Dependent object, by its number among those of `column`. */
struct dependent {
    void *column;
    uint32_t slot;
};

enum { DEPENDENCY_NONE = -1, DEPENDENCY_BYTES = 48 };

/* Creates a table of at most `max` dependencies. */
struct dependencies *dependencies_new(size_t max);
/* All indexes must have been freed. NULL is allowed. */
void dependencies_free(struct dependencies *dependencies);
size_t dependencies_count(const struct dependencies *dependencies);

struct dependency_index *dependency_index_new(struct dependencies *dependencies);
/* Nobody may have looked at it any more. */
void dependency_index_free(struct dependency_index *index);

/* Looks are noted for that one from now on. */
void dependencies_begin(struct dependencies *dependencies, const struct dependent *dependent);
/* The same look again is none. False, and nothing noted, when there are `max`. */
bool dependencies_note(struct dependency_index *index, struct str value);
/* The looks since dependencies_begin, to be given back by dependencies_drop; DEPENDENCY_NONE: there were
 * none. */
int32_t dependencies_end(struct dependencies *dependencies);
void dependencies_drop(struct dependencies *dependencies, int32_t first_dependency);

/* Tells who has looked at that value. `fn` changes nothing here. */
void dependency_index_each(const struct dependency_index *index, struct str value,
                           void (*fn)(void *ctx, const struct dependent *dependent), void *ctx);
