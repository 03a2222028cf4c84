/* Tracks on which other objects results depend. While a rule is evaluated, each lookup is recorded with its
 * index and value; when objects under that value change, the dependent results are evaluated again. A
 * dependency takes DEPENDENCY_BYTES, each value its string and a posting. Owner: continuous.c, on the engine
 * thread. Callbacks may not call back. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct dependencies;
struct dependency_index; /* values of one index */

/* Dependent object, by its number among those of `column`. */
struct dependent {
    void *column;
    uint32_t slot;
};

enum { DEPENDENCY_NONE = -1, DEPENDENCY_BYTES = 48 };

/* Creates a table of at most `max` dependencies. */
struct dependencies *dependencies_new(size_t max);
/* Frees the table. All indexes were freed before; NULL is allowed. */
void dependencies_free(struct dependencies *dependencies);
size_t dependencies_count(const struct dependencies *dependencies);

struct dependency_index *dependency_index_new(struct dependencies *dependencies);
/* Frees an index without dependencies. */
void dependency_index_free(struct dependency_index *index);

/* Begins recording dependencies of a result. */
void dependencies_begin(struct dependencies *dependencies, const struct dependent *dependent);
/* Records a lookup; a repeated one takes no room. Returns false and records nothing at the limit of the
 * table. */
bool dependencies_note(struct dependency_index *index, struct str value);
/* Ends recording. Returns the first dependency, which the caller passes to dependencies_drop; DEPENDENCY_NONE
 * for none. */
int32_t dependencies_end(struct dependencies *dependencies);
void dependencies_drop(struct dependencies *dependencies, int32_t first_dependency);

/* Iterates the dependents of a value. `fn` changes nothing here. */
void dependency_index_each(const struct dependency_index *index, struct str value,
                           void (*fn)(void *ctx, const struct dependent *dependent), void *ctx);
