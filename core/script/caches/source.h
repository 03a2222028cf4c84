/* Source of listers and queries: the cache of an informer as it is now, or as a snapshot keeps it.
 * Owner: the userdata that embeds it, which keeps the snapshot's userdata alive. Inside a call into Lua. */
#pragma once
#include <lua.h>
#include <stdbool.h>

#include "script/vm/retained.h"

struct indexer;
struct informer_claim;

struct cache_source {
    struct informer_claim *claim;
    struct snapshot *snapshot; /* NULL: the cache as it is now */
    size_t slot;               /* which of the snapshot's */
    bool synced;               /* the cache was when it was read */
};

/* Raises if the informer of the claim was stopped. */
void source_check_open(lua_State *L, const struct informer_claim *claim);
/* NULL while there is no cache. Raises when the informer was stopped, or the snapshot is closed. */
struct indexer *source_cache(lua_State *L, struct cache_source *source);
/* Counts a read of a cache that is not synced; the first of each informer is logged with its place. */
void source_note_early(lua_State *L, struct informer_claim *claim);
/* A cache of the source was given an index: what a snapshot holds is counted again. */
void source_grew(lua_State *L, const struct cache_source *source);

/* --- for bind_snapshot.c: several caches as they were at one moment, a userdata */

struct snapshot_part {
    struct informer_claim *claim;
    struct indexer *cache; /* NULL: there was none yet */
    struct retained_set retained;
};

struct snapshot {
    size_t count, bytes;
    bool closed;
    struct snapshot_part at[];
};

/* All of a script. */
struct script_snapshots {
    size_t bytes; /* that they hold, as part of its memory */
};

/* Counts what its caches take as memory of the script. */
void snapshot_count(struct script *script, struct snapshot *snapshot);
/* The same of so many bytes. */
void snapshot_account(struct script *script, struct snapshot *snapshot, size_t bytes);
