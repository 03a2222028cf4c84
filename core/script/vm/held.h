/* What a script keeps alive that its caches do not: objects of views, of lists that are walked and of
 * snapshots, once the cache has a newer state or none. Lua sees small userdata, so that a script could make
 * the engine grow by keeping old views; those objects count as its memory. Nobody tells when a cache lets go
 * of what a view holds: the script looks through what it holds now and then, as objects leave the caches, and
 * after each full collection. A table has each object once, with the number of its views, and one reference.
 * Owner: the script. On the engine thread; raises nothing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "informer/store/indexer.h"

struct script;

/* Many objects at once, of which a part is looked at: of a list or a snapshot. */
struct held_many {
    LIST_ENTRY(held_many) link;
    size_t count; /* 0: it is not linked */
    /* The object with this number, borrowed; NULL: none. */
    struct root *(*at)(const struct held_many *many, size_t i);
};

struct held_object {
    struct root *root; /* NULL: an empty slot */
    size_t views;      /* that Lua has not collected */
};

struct held {
    struct held_object *slots;
    size_t cap, count, last; /* slots, a power of two; objects; the slot that was asked for last */
    LIST_HEAD(held_manies, held_many) many;
    size_t bytes;             /* what objects take that no cache has; part of the script's memory */
    size_t looked_at;         /* objects, when it was found */
    struct departed departed; /* from caches, until then */
    struct departed fetched;  /* from the server past the caches, since then */
};

/* For held_take and held_drop. */
void held_add(struct script *script, struct root *root);
void held_find(struct held *held, const struct root *root);
void held_remove_last(struct script *script);

/* One more view of the object. */
static inline void held_take(struct script *script, struct held *held, struct root *root)
{
    if (held->cap && held->slots[held->last].root == root)
        held->slots[held->last].views++;
    else
        held_add(script, root);
}

/* One less. */
static inline void held_drop(struct script *script, struct held *held, const struct root *root)
{
    if (held->slots[held->last].root != root) held_find(held, root);
    if (--held->slots[held->last].views == 0) held_remove_last(script);
}

/* The script gets an object that comes from no cache: an answer to a read or a write. */
void held_note_fetched(struct script *script, const struct root *object);
/* `many` is held from here on; nothing when it has no objects. */
void held_add_many(struct script *script, struct held_many *many);
void held_remove_many(struct held_many *many);
/* Whether so much has happened since the last look that the next is due. */
bool held_is_due(const struct script *script);
/* Counts them anew. */
void held_look(struct script *script);
/* Lua has collected all views. */
void held_clear(struct script *script);
