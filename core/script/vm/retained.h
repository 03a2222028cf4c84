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
struct retained_set {
    LIST_ENTRY(retained_set) link;
    size_t count; /* 0: it is not linked */
    /* The object with this number, borrowed; NULL: none. */
    struct root *(*at)(const struct retained_set *many, size_t i);
};

struct retained_object {
    struct root *root; /* NULL: an empty slot */
    size_t views;      /* that Lua has not collected */
};

struct held {
    struct retained_object *slots;
    size_t cap, count, last; /* slots, a power of two; objects; the slot that was asked for last */
    LIST_HEAD(held_manies, retained_set) many;
    size_t bytes;             /* what objects take that no cache has; part of the script's memory */
    size_t looked_at;         /* objects, when it was found */
    struct departed departed; /* from caches, until then */
    struct departed fetched;  /* from the server past the caches, since then */
};

/* For retained_take and retained_drop. */
void retained_add(struct script *script, struct root *root);
void retained_find(struct held *held, const struct root *root);
void retained_remove_last(struct script *script);

/* One more view of the object. */
static inline void retained_take(struct script *script, struct held *held, struct root *root)
{
    if (held->cap && held->slots[held->last].root == root)
        held->slots[held->last].views++;
    else
        retained_add(script, root);
}

/* One less. */
static inline void retained_drop(struct script *script, struct held *held, const struct root *root)
{
    if (held->slots[held->last].root != root) retained_find(held, root);
    if (--held->slots[held->last].views == 0) retained_remove_last(script);
}

/* The script gets an object that comes from no cache: an answer to a read or a write. */
void retained_add_fetched(struct script *script, const struct root *object);
/* `many` is held from here on; nothing when it has no objects. */
void retained_add_set(struct script *script, struct retained_set *many);
void retained_remove_set(struct retained_set *many);
/* Whether so much has happened since the last look that the next is due. */
bool retained_is_due(const struct script *script);
/* Counts them anew. */
void retained_recount(struct script *script);
/* Lua has collected all views. */
void retained_clear(struct script *script);
