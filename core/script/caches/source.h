/* What listers and queries read: the cache of an informer as it is now, or as a snapshot keeps it.
 * Owner: the userdata that embeds it, which keeps the snapshot's userdata alive. Inside a call into Lua. */
#pragma once
#include <lua.h>
#include <stddef.h>

struct indexer;
struct informer_claim;
struct snapshot;

struct source {
    struct informer_claim *claim;
    struct snapshot *snapshot; /* NULL: the cache as it is now */
    size_t slot;               /* which of the snapshot's */
};

/* NULL while there is no cache. Raises when the snapshot is closed. */
struct indexer *source_cache(lua_State *L, const struct source *source);
/* A cache of the source was given an index: what a snapshot holds is counted again. */
void source_grew(lua_State *L, const struct source *source);
