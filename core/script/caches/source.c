/* Caches that listers and queries read, and what snapshots take; see source.h. */
#include "script/caches/source.h"

#include "informer/shared/shared_factory.h"
#include "script/vm/args.h"
#include "script/vm/memory.h"

struct indexer *source_cache(lua_State *L, const struct cache_source *source)
{
    if (!source->snapshot) return claim_indexer(source->claim);
    if (source->snapshot->closed) script_raise(L, "the snapshot is closed");
    return source->snapshot->at[source->slot].cache;
}

void snapshot_account(struct script *script, struct snapshot *snapshot, size_t bytes)
{
    memory_note(script, (ptrdiff_t)bytes - (ptrdiff_t)snapshot->bytes);
    script->own.snapshots->bytes += bytes - snapshot->bytes;
    snapshot->bytes = bytes;
}

void snapshot_count(struct script *script, struct snapshot *snapshot)
{
    size_t bytes = 0;
    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->at[i].cache) bytes += indexer_bytes(snapshot->at[i].cache);
    snapshot_account(script, snapshot, bytes);
}

void source_grew(lua_State *L, const struct cache_source *source)
{
    if (source->snapshot) snapshot_count(script_of(L), source->snapshot);
}
