/* Caches that listers and queries read, and what snapshots take; see source.h. */
#include "script/caches/source.h"

#include <stdio.h>

#include "base/log.h"
#include "base/metrics.h"
#include "informer/shared/shared_factory.h"
#include "script/vm/args.h"
#include "script/vm/memory.h"

METRIC(metric_early_reads, 11, "kubelua_early_reads_total",
       "Number of reads of a lister or query before its informer was synced.");

void source_note_early(lua_State *L, struct informer_claim *claim)
{
    lua_Debug ar;
    const struct informer_spec *spec = claim_spec(claim);
    struct buf name = {0};
    char place[LUA_IDSIZE + 16] = "";
    metric_inc(&metric_early_reads);
    if (!claim_note_early(claim)) return;
    if (script_where(L, &ar)) snprintf(place, sizeof place, "%s:%d", ar.short_src, ar.currentline);
    buf_printf(&name, "%s%s%s", spec->cluster ? spec->cluster : "", spec->cluster ? ": " : "", spec->kind);
    log_warn("Cache was read before it was synced, objects may be missing",
             F("script", script_of(L)->id.name), F("place", place), F("informer", buf_text(&name)));
    buf_clear(&name);
}

void source_check_open(lua_State *L, const struct informer_claim *claim)
{
    if (claim_is_stopped(claim)) script_raise(L, "the informer of %s was stopped", claim_spec(claim)->kind);
}

struct indexer *source_cache(lua_State *L, struct cache_source *source)
{
    /* Synced once is synced for good: the question takes a lock. */
    if (!source->snapshot) source_check_open(L, source->claim);
    if (!source->snapshot && !source->synced && !(source->synced = claim_has_synced(source->claim)))
        source_note_early(L, source->claim);
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
