/* Which results depend on which looks at other objects: while a rule is asked about an object, each look that
 * it takes is noted with the index it asks and the value it asks for. When something under that value
 * changes, those who looked are known. Owner: continuous.c, on the engine thread. Callbacks may not call
 * back.
 *
 * A look takes LOOKUP_BYTES, and each value that somebody asks for what its text and a posting take. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct lookups;
struct lookup_index; /* what can be asked for a value */

/* Who looks: an object, by its number among those of `column`. */
struct looker {
    void *column;
    uint32_t slot;
};

enum { LOOKUP_NONE = -1, LOOKUP_BYTES = 48 };

/* At most `max` looks are known at a time. */
struct lookups *lookups_new(size_t max);
/* All indexes must have been freed. NULL is allowed. */
void lookups_free(struct lookups *lookups);
size_t lookups_count(const struct lookups *lookups);

struct lookup_index *lookup_index_new(struct lookups *lookups);
/* Nobody may have looked at it any more. */
void lookup_index_free(struct lookup_index *index);

/* Looks are noted for that one from now on. */
void lookups_begin(struct lookups *lookups, const struct looker *looker);
/* The same look again is none. False, and nothing noted, when there are `max`. */
bool lookups_note(struct lookup_index *index, struct str value);
/* The looks since lookups_begin, to be given back by lookups_drop; LOOKUP_NONE: there were none. */
int32_t lookups_end(struct lookups *lookups);
void lookups_drop(struct lookups *lookups, int32_t looks);

/* Tells who has looked at that value. `fn` changes nothing here. */
void lookup_index_each(const struct lookup_index *index, struct str value,
                       void (*fn)(void *ctx, const struct looker *looker), void *ctx);
