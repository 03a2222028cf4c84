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
#include "script/vm/parts.h"

struct script;

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
