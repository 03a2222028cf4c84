/* Accounts for objects that only a script keeps alive: those of views, lists and snapshots that the caches
 * no longer hold. They count as memory of the script, because Lua sees only small userdata. Caches do not
 * report dropped objects, so the script recounts them now and then.
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
void retained_remove(struct script *script, uint32_t slot);

/* Adds a view of the object; returns its slot. */
static inline uint32_t retained_take(struct script *script, struct retained *retained, struct root *root)
{
    if (!retained->used || retained->slots[retained->last].root != root) retained_add(script, root);
    retained->slots[retained->last].views++;
    return retained->last;
}

/* Removes a view of the object in the slot. */
static inline void retained_drop(struct script *script, struct retained *retained, uint32_t slot)
{
    if (--retained->slots[slot].views == 0) retained_remove(script, slot);
}

/* Counts an object that comes from the server, not from a cache. */
void retained_add_fetched(struct script *script, const struct root *object);
/* Links `many`, unless it has no objects. */
void retained_add_set(struct script *script, struct retained_set *many);
void retained_remove_set(struct retained_set *many);
/* Returns the number of objects in the caches of the script. */
size_t retained_cached_count(const struct script *script);
/* Returns whether enough has happened since the last recount for the next one. */
bool retained_is_due(const struct script *script);
/* Recounts the bytes of retained objects. Unless `exactly`, estimates those of views from some thousands of
 * the objects: a look at each takes 100 ns. */
void retained_recount(struct script *script, bool exactly);
/* Releases up to `most` objects of the last slots; returns whether none is left. Views still name the slots:
 * call when nothing looks at a view any more, nor finalizes one. */
bool retained_release(struct script *script, uint32_t most);
/* Frees the table. Call after Lua has collected all views. */
void retained_clear(struct script *script);
