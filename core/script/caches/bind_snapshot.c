/* raw.snapshot: the state of several caches at one moment. */
#include "base/mem.h"
#include "script/caches/bind_informer.h"
#include "script/caches/bind_query_rows.h"
#include "script/caches/index_function.h"
#include "script/caches/source.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/vm/memory.h"
#include "script/vm/retained.h"

enum { CACHES_MAX = 100, CACHES_NAMED = 5 };

static struct root *object_at(const struct retained_set *retained, size_t i)
{
    return indexer_next(container_of(retained, struct snapshot_part, retained)->cache, &i);
}

static void release(struct script *script, struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        retained_remove_set(&snapshot->at[i].retained);
        indexer_free(snapshot->at[i].cache);
        snapshot->at[i].cache = NULL;
    }
    snapshot_account(script, snapshot, 0);
    snapshot->closed = true;
}

static size_t bytes_of(lua_State *L, int count)
{
    size_t bytes = 0;
    for (int i = 1; i <= count; i++) {
        const struct indexer *cache = claim_indexer(informer_arg(L, i, "k8s.snapshot"));
        if (cache) bytes += indexer_bytes(cache);
    }
    return bytes;
}

/* Collects first: Lua's collector sees only a small userdata, so unused snapshots may hold many objects. */
static void make_room(lua_State *L, size_t bytes)
{
    struct script *script = script_of(L);
    const struct script_heap *heap = &script->heap;
    if (script->memory + bytes > heap->limit / 4 * 3 ||
        script->own.snapshots->bytes + bytes > heap->limit / 4)
        memory_collect(L);
    if (memory_has_room(script, bytes)) return;
    script_raise(L,
                 "k8s.snapshot: over the limit script-memory (%zu MiB): %zu MiB are in use, %zu KiB wanted; "
                 "close() some",
                 heap->limit >> 20, script->memory >> 20, bytes >> 10);
}

/* new(informer, ...) */
static int l_snapshot_new(lua_State *L)
{
    int count = lua_gettop(L);
    if (count == 0 || count > CACHES_MAX)
        script_raise(L, "k8s.snapshot: expected 1 to %d informers", CACHES_MAX);
    make_room(L, bytes_of(L, count));
    struct script *script = script_of(L);
    struct snapshot *snapshot = lua_newuserdata(L, sizeof *snapshot + (size_t)count * sizeof snapshot->at[0]);
    memset(snapshot, 0, sizeof *snapshot);
    class_set(L, script, CLASS_SNAPSHOT);
    for (int i = 0; i < count; i++) {
        struct informer_claim *claim = informer_arg(L, i + 1, "k8s.snapshot");
        const struct indexer *cache = claim_indexer(claim);
        if (!claim_has_synced(claim)) source_note_early(L, claim);
        snapshot->at[i].claim = claim;
        snapshot->at[i].cache = cache ? indexer_copy(cache) : NULL;
        snapshot->count++;
        snapshot->at[i].retained =
            (struct retained_set){.count = cache ? indexer_count(cache) : 0, .at = object_at};
        retained_add_set(script, &snapshot->at[i].retained);
    }
    snapshot_count(script, snapshot);
    informer_keep(L, 1, count);
    return 1;
}

/* "v1 pods in shop"; as it was requested while discovery has not responded. */
static void describe(struct informer_claim *claim, struct buf *out)
{
    const struct resource *resource = claim_resource(claim);
    if (resource) {
        resource_api_version(resource, out);
        buf_putc(out, ' ');
    }
    buf_puts(out, claim_part_count(claim) == 1 ? claim_part_name(claim, 0) : claim_spec(claim)->kind);
    if (claim_part_count(claim) > 1) buf_printf(out, " in %zu namespaces", claim_part_count(claim));
}

/* Two informers of one kind are told apart, also when all that is said of them is the same. */
static void describe_lack(const struct snapshot *snapshot, struct informer_claim *claim, struct buf *text)
{
    describe(claim, text);
    buf_puts(text, "; it contains ");
    for (size_t i = 0; i < snapshot->count && i < CACHES_NAMED; i++) {
        if (i > 0) buf_puts(text, ", ");
        describe(snapshot->at[i].claim, text);
    }
    if (snapshot->count > CACHES_NAMED) buf_printf(text, " and %zu more", snapshot->count - CACHES_NAMED);
}

static struct cache_source find_source(lua_State *L, const char *method)
{
    struct snapshot *snapshot = class_self(L, CLASS_SNAPSHOT, method);
    char verb[64];
    snprintf(verb, sizeof verb, "snapshot:%s", method);
    struct informer_claim *claim = informer_arg(L, 2, verb);
    if (snapshot->closed) script_raise(L, "%s: the snapshot is closed", verb);
    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->at[i].claim == claim) return (struct cache_source){claim, snapshot, i, false};
    struct buf *text = script_scratch(script_of(L));
    describe_lack(snapshot, claim, text);
    script_raise(L, "%s: the snapshot does not have this informer of %s", verb, buf_text(text));
}

/* Makes the reader on top of the stack keep its snapshot alive, by its environment. */
static int keep_alive(lua_State *L)
{
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    lua_setfenv(L, -2);
    return 1;
}

/* snapshot:lister(informer) */
static int l_snapshot_lister(lua_State *L)
{
    struct cache_source source = find_source(L, "lister");
    lister_push(L, &source, "", 0);
    return keep_alive(L);
}

/* snapshot:query(informer) */
static int l_snapshot_query(lua_State *L)
{
    struct cache_source source = find_source(L, "query");
    query_push(L, &source);
    return keep_alive(L);
}

/* snapshot:close(): releases the objects at once. An index function may be building an index of this very
 * cache. */
static int l_snapshot_close(lua_State *L)
{
    struct snapshot *snapshot = class_self(L, CLASS_SNAPSHOT, "close");
    if (script_of(L)->own.index_functions->emitting)
        script_raise(L, "snapshot:close may not be called in an index function");
    release(script_of(L), snapshot);
    return 0;
}

static int l_snapshot_gc(lua_State *L)
{
    release(script_of(L), lua_touserdata(L, 1));
    return 0;
}

static const luaL_Reg snapshot_methods[] = {
    {"lister", l_snapshot_lister},
    {"query", l_snapshot_query},
    {"close", l_snapshot_close},
    {NULL, NULL},
};

static void bind_snapshot(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", l_snapshot_gc}, {NULL, NULL}};
    class_define(L, CLASS_SNAPSHOT, "snapshot", meta, snapshot_methods);
    lua_pop(L, 1);
    lua_pushcfunction(L, l_snapshot_new);
    lua_setfield(L, -2, "snapshot");
}

const struct feature feature_snapshot = {.parts = {"snapshot"},
                                         .bind = bind_snapshot,
                                         .classes = CLASS_BIT(CLASS_SNAPSHOT),
                                         FEATURE_OWNS(snapshots)};
