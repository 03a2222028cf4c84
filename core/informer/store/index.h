/* Index of a store: from a value to the entries that have it (S-5, V17, V21). An entry may have several
 * values, or none; it is identified by its number in the store, and the index keeps its values, so that a
 * function whose results change leaves nothing behind. Owner: the indexer, on the engine thread. A source's
 * function must not change the store. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "object/pack/pool.h"
#include "object/value/value.h"

/* Most values that a source may add for one object. */
enum { INDEX_VALUES_MAX = 10000 };

/* Values of an index for one object, while they are computed. */
struct index_values {
    struct buf bytes; /* lengths (size_t) and strings, alternating */
    size_t count;
};

struct index_source {
    /* Adds the values of an object by index_values_add. Returns false and sets err on failure: the object
     * then has no value (S-6). */
    bool (*values)(void *ctx, struct root *object, struct index_values *out, struct err *err);
    void (*free)(void *ctx); /* NULL: nothing to free */
    void *ctx;
    /* Called before the values of a changed entry are computed: true puts that off (indexer.h). NULL: never.
     */
    bool (*later)(void *ctx);
    /* Called with each value that a changed entry had or has, possibly twice. NULL: nobody asks. */
    void (*touched)(void *ctx, struct str value);
};

struct index;

/* Adds a value; duplicates count once. */
void index_values_add(struct index_values *values, struct str value);

/* Creates an index; takes the source. */
struct index *index_new(const struct index_source *source);
void index_free(struct index *index);

/* Removes the values of all entries. */
void index_empty(struct index *index);
/* Replaces the object of an entry and touches only values that differ (S-5). NULL: the entry has no object.
 */
void index_set(struct index *index, uint32_t entry, struct root *object);
/* Returns whether the source puts off the computation. */
bool index_is_later(const struct index *index);
/* Renumbers the entries: `numbers[old]`, or INDEX_GONE for removed entries, which have no values here either.
 */
enum { INDEX_GONE = UINT32_MAX };
void index_renumber(struct index *index, const uint32_t *numbers, size_t count);

/* Returns the number of entries under a value. */
size_t index_count(const struct index *index, struct str value);
/* Appends their numbers to `out` (uint32_t), ascending, which is the order of the store. */
void index_entries(const struct index *index, struct str value, struct buf *out);
/* Likewise for all values of an object, each number once (S-7): the entries that share a value with it,
 * whether the store has the object itself or not. */
void index_entries_like(struct index *index, struct root *object, struct buf *out);
/* Calls `fn` for every value of any entry, in no order; borrowed until the index changes. */
void index_each_value(const struct index *index, void (*fn)(void *ctx, struct str value, size_t count),
                      void *ctx);
/* Calls `fn` for the values of one entry, each once. */
void index_values_of(const struct index *index, uint32_t entry, void (*fn)(void *ctx, struct str value),
                     void *ctx);
/* Returns whether the index has this source: the same function with the same ctx. */
bool index_is_of(const struct index *index, const struct index_source *source);
/* Returns an estimate of its bytes. */
size_t index_bytes(const struct index *index);

/* --- Values of a path in an object, as values of an index: strings as they are, numbers as decimals (1.0 is
 * 1), booleans as true and false. Null, maps and arrays are no values. Owner: the index takes the source. On
 * any thread. */

/* Compiles the path; false with an error that names the place. */
bool index_source_of_path(struct str path, struct index_source *out, struct err *err);
/* Appends a scalar as a string; returns false if `value` is not a scalar. */
bool index_text(struct value value, struct buf *out);
/* Appends a number, equal for 1 and 1.0. */
void index_number(double number, struct buf *out);
