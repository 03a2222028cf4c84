/* Cache of the nodes of subtrees by their texts: bounded memory from the text of a map or an array to its
 * node, so that a known text is hashed and not walked again. The length of the text that begins at a bracket
 * is unknown before it is walked; an entry is found by the first bytes, has its length, and is valid if the
 * hash of the complete text is equal. Owner: the pool, and so its thread. Holds no references: a node that is
 * freed is forgotten. A zeroed one is empty and valid. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/pack/granule_table.h"

enum {
    TEXT_CACHE_MIN = 64,           /* fewest bytes of a text that is recorded */
    TEXT_CACHE_SETS = 1 << 14,     /* at most, except beside so many objects that more are little */
    TEXT_CACHE_SETS_MAX = 1 << 18, /* beside any number */
    TEXT_CACHE_WAYS = 4,           /* entries of a set */
    TEXT_CACHE_ENTRY = 32,         /* bytes: 24, and at most 8 to find it by its node */
    TEXT_CACHE_TOKENS_MAX = (1 << 24) - 1,
};

struct text_entry {
    uint32_t hash[2];     /* of the complete text */
    uint32_t length;      /* of the text, in bytes */
    uint32_t tokens : 24; /* in the text */
    uint32_t height : 8;  /* maps and arrays in one another, this one not counted */
    uint32_t granule;     /* of the node */
};

struct text_cache {
    uint32_t *place; /* of each entry, before it is cut to the table's size; 0: no entry. Apart, as most
                        searches end there */
    struct text_entry *entry;
    uint32_t mask, count;         /* of sets; of entries */
    uint32_t inserted, missed;    /* of late, once it is large: texts; those whose node was not new */
    struct granule_table by_node; /* an entry's number plus one, by the node's granule */
};

/* Places of a text: a text that many objects share is found by its first bytes alone; one of the texts that
 * begin alike has this place, the others one that depends on their object (`anchor`: shared with few others).
 */
struct text_places {
    uint32_t common, special;
};

/* `p` has at least TEXT_CACHE_MIN bytes. */
struct text_places text_places(const char *p, uint32_t anchor);
/* Returns the entry for the text that begins at `p`, which has at most `rest` bytes; NULL if it is unknown.
 */
const struct text_entry *text_cache_find(const struct text_cache *cache, struct text_places places,
                                         const char *p, size_t rest);
/* Prefetches the memory that inserting an entry for this node will touch. */
void text_cache_expect(const struct text_cache *cache, struct text_places places, uint32_t granule);
/* Inserts an entry, and drops another if there is no room. A node may have several texts, and one text
 * several entries. Beyond TEXT_CACHE_SETS the table grows, up to `bytes_max`, if most nodes are not `fresh`:
 * then their texts had been there, and were dropped too early. */
void text_cache_insert(struct text_cache *cache, struct text_places places, const char *p,
                       const struct text_entry *entry, bool fresh, size_t bytes_max);
/* Gives back the sets beyond TEXT_CACHE_SETS, and what does not fit into the rest. */
void text_cache_trim(struct text_cache *cache);
/* Removes all texts of a node. */
void text_cache_forget(struct text_cache *cache, uint32_t granule);
size_t text_cache_bytes(const struct text_cache *cache);
void text_cache_clear(struct text_cache *cache);
