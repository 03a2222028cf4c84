/* Finding many keys in one map: large maps that carry their own keys get an index, so that comparing two of
 * them does not take the square of their size. Owner: the caller, on the stack; borrows the map. */
#pragma once
#include "object/value/value.h"

struct map_index {
    struct value map;
    uint64_t *order; /* hash of the key << 32 | entry, sorted; NULL for maps that need none */
};

struct map_index map_index_make(struct value map);
struct value map_index_find(const struct map_index *index, struct str key);
void map_index_clear(struct map_index *index);
