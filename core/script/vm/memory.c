/* Lua's allocator with a limit; see memory.h. */
#include "script/vm/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time/piece_meter.h"
#include "object/pack/slab.h"
#include "script/vm/budget.h"
#include "script/vm/feature.h"
#include "script/vm/retained.h"
#include "script/vm/state.h"

/* Blocks up to SMALL are granted to a call that must end anyway, up to FOR_ERRORS bytes over the bound: Lua
 * builds the error from them. */
enum { SMALL = 4096, FOR_ERRORS = 1 << 20 };

/* Returns the state whose frames name the line that needs memory, as Lua unwinds without a message when an
 * allocation is refused. For a coroutine of the script, returns the state that resumed it. NULL where machine
 * code may run, which keeps no frames. */
static lua_State *current_state(const struct script *script)
{
    const struct task *task = script->tasks.current;
    if (script->trusted) return NULL;
    return task ? task->co : script->L;
}

static void let_go(struct script *script)
{
    if (script->heap.kept > 0) FEATURES_EACH(script, let_go);
}

static bool may_have(struct script *script, size_t more)
{
    const struct script_heap *heap = &script->heap;
    /* Retained objects are left to the hook: it can collect before it judges, the allocator cannot. */
    size_t own = script->memory - script->retained.bytes;
    if (!heap->refuses || own + more <= heap->hard) return true;
    let_go(script);
    own = script->memory - script->retained.bytes;
    if (own + more <= heap->hard) return true;
    if (script->budget.over && more <= SMALL && own + more <= heap->hard + FOR_ERRORS) return true;
    script->heap.refused = true;
    budget_exceed_at(script, current_state(script), LIMIT_SCRIPT_MEMORY);
    return false;
}

static void check_collection(struct script *script)
{
    struct script_heap *heap = &script->heap;
    if (script->memory <= heap->collect_at || heap->wanted) return;
    /* Collecting inside the allocator would free objects that Lua is working on: ask the hook for it. */
    heap->wanted = true;
    if (script->L) budget_arm(script);
}

/* --- blocks beside each other */

/* Of the slabs, which are given back with the heap; all others are malloc's, as are those of this size for
 * which the slabs have no room. */
enum { CELL_MAX = 256 };

void memory_pack(struct script *script)
{
    script->heap.cells = slabs_new(0, 0);
}

void memory_unpack(struct script *script)
{
    if (script->heap.cells) slabs_free(script->heap.cells);
    script->heap.cells = NULL;
}

static bool is_cell(size_t size)
{
    return size > 0 && size <= CELL_MAX;
}

static bool is_of_slabs(const struct slabs *cells, void *block)
{
    return block && region_of(block) == cells->region;
}

static void *take(struct slabs *cells, size_t size)
{
    uint32_t granule = is_cell(size) ? slabs_alloc(cells, size) : 0;
    return granule ? region_at(cells->region, granule) : malloc(size);
}

/* Of the slabs' own size: where Lua could not finish a closure, as memory was refused, it frees the closure
 * as one without upvalues. */
static inline void give(struct slabs *cells, void *block)
{
    if (cells && is_of_slabs(cells, block))
        slabs_release(cells, granule_of(block), slabs_cell_bytes(cells, granule_of(block)));
    else
        free(block);
}

static void *resize(struct slabs *cells, void *block, size_t old_size, size_t new_size)
{
    /* Most states have none, and most of their calls are for a new block. */
    if (!cells) return block ? realloc(block, new_size) : malloc(new_size);
    bool of_slabs = is_of_slabs(cells, block);
    if (!of_slabs && !is_cell(new_size)) return realloc(block, new_size);
    if (of_slabs && is_cell(new_size) && slab_class(old_size) == slab_class(new_size)) return block;
    void *moved = take(cells, new_size);
    if (!moved || !block) return moved;
    memcpy(moved, block, old_size < new_size ? old_size : new_size);
    give(cells, block);
    return moved;
}

void *memory_allocate(void *ud, void *block, size_t old_size, size_t new_size)
{
    struct script *script = ud;
    if (!block) old_size = 0;
    if (new_size == 0) {
        give(script->heap.cells, block);
        script->memory -= old_size;
        return NULL;
    }
    if (new_size > old_size && !may_have(script, new_size - old_size)) return NULL;
    void *grown = resize(script->heap.cells, block, old_size, new_size);
    /* Lua cannot live with a block that does not shrink: it stays as it is, which give can tell. */
    if (!grown && block && new_size <= old_size) grown = block;
    if (!grown) return NULL;
    script->memory += new_size - old_size;
    if (__builtin_expect(script->memory > script->heap.pace.room_end, 0)) pace_run(script);
    check_collection(script);
    return grown;
}

void memory_note(struct script *script, ptrdiff_t bytes)
{
    script->memory += (size_t)bytes;
    if (bytes > 0) check_collection(script);
}

void memory_keep(struct script *script, ptrdiff_t bytes)
{
    script->heap.kept += (size_t)bytes;
    memory_note(script, bytes);
}

bool memory_has_room(struct script *script, size_t bytes)
{
    if (script->memory + bytes > script->heap.limit) let_go(script);
    return script->memory + bytes <= script->heap.limit;
}

void memory_take(lua_State *L, size_t bytes)
{
    struct script *script = script_of(L);
    /* Garbage may be all that is in the way, and C callers can collect at this point. */
    if (script->memory + bytes > script->heap.limit) memory_collect(L);
    if (!memory_has_room(script, bytes)) {
        budget_exceed(script, LIMIT_SCRIPT_MEMORY);
        budget_raise(L);
    }
    memory_note(script, (ptrdiff_t)bytes);
}

/* --- collections */

static void set_next(struct script *script)
{
    struct script_heap *heap = &script->heap;
    size_t left = script->memory < heap->limit ? heap->limit - script->memory : 0;
    /* Collect when half of the rest is used, so that a script near its limit collects ever sooner, but never
     * below three quarters, where Lua's own collector suffices. */
    heap->collect_at = script->memory + left / 2;
    if (heap->collect_at < heap->limit / 4 * 3) heap->collect_at = heap->limit / 4 * 3;
}

void memory_set_limit(struct script *script)
{
    struct script_heap *heap = &script->heap;
    int64_t limit = script->limits.values[LIMIT_SCRIPT_MEMORY];
    heap->limit = limit > INT64_MAX / 2 ? INT64_MAX / 2 : (size_t)limit;
    /* Up to this bound the hook collects garbage first; only beyond it the allocator refuses. */
    heap->hard = heap->limit + heap->limit / 4;
    set_next(script);
}

bool memory_guard(struct script *script)
{
    bool guarded = script->heap.refuses;
    script->heap.refuses = true;
    return guarded;
}

void memory_unguard(struct script *script, bool guarded)
{
    script->heap.refuses = guarded;
}

static void recount(struct script *script, bool exactly)
{
    const char *stage = piece_enter(script->brief, "a count of retained objects");
    size_t before = script->memory;
    retained_recount(script, exactly);
    /* A prompt's views live until its line ends: a cycle would find them all alive, in steps that take long.
     */
    if (script->brief && script->memory > before) pace_spare(script, script->memory - before);
    piece_enter(script->brief, stage);
}

/* Runs with refusals off: Lua allocates while it collects, for example to resize its string table, and an
 * error raised there would corrupt the collection. */
void memory_collect(lua_State *L)
{
    struct script *script = script_of(L);
    bool refuses = script->heap.refuses;
    int64_t begun_ns = budget_rest(script);
    const char *stage = piece_enter(script->brief, "a collection of all");
    size_t before = script->memory;
    script->heap.refuses = false;
    script->heap.dead_objects = 0;
    pace_hurry_end(script);
    lua_gc(L, LUA_GCCOLLECT, 0);
    script->heap.pace.runs = true; /* until the end of the call in flight */
    script->heap.pace.room_end = SIZE_MAX;
    recount(script, true);
    if (script->memory > script->heap.limit) let_go(script);
    script->heap.refuses = refuses;
    script->heap.wanted = script->heap.spent = script->heap.hurried = false;
    script->heap.lived = script->memory;
    /* libc keeps freed memory for itself: base/mem.c returns it to the system once enough has added up. */
    if (before > script->memory) mem_note_freed(before - script->memory);
    set_next(script);
    piece_enter(script->brief, stage);
    /* A collection is the engine's work: calls do not pay for it. */
    budget_resume(script, begun_ns);
}

/* Whether a cycle that a prompt was given has found more to live than it may have. What it has allocated
 * since that cycle looked is garbage or not: the next one tells. */
static bool lives_over(struct script *script)
{
    const struct script_heap *heap = &script->heap;
    recount(script, false);
    return heap->pace.found + heap->kept + script->retained.bytes > heap->limit;
}

/* Instead of a collection, in a prompt over an engine: others would wait for all of it. The collector
 * hurries, in its steps between the pieces. Returns false where only a collection of all can tell whether the
 * line must end: a cycle has found too much, by estimates, or does not keep up. */
static bool hurry(struct script *script)
{
    enum { ASKS_AFTER = 64 << 10 };
    struct script_heap *heap = &script->heap;
    bool over = script->memory > heap->limit, told = over && heap->hurried && heap->pace.hurry == 0;
    if (script->memory > heap->limit / 2 + heap->hard / 2 || (told && lives_over(script))) return false;
    heap->wanted = false;
    heap->hurried = over;
    pace_hurry(script, true);
    set_next(script);
    if (over) heap->collect_at = script->memory + ASKS_AFTER;
    return true;
}

void memory_on_hook(lua_State *L)
{
    struct script *script = script_of(L);
    if (!script->heap.wanted || (script->brief && hurry(script))) return;
    memory_collect(L);
    if (script->memory > script->heap.limit) budget_exceed(script, LIMIT_SCRIPT_MEMORY);
}

void memory_settle(struct script *script)
{
    if (retained_is_due(script)) {
        recount(script, !script->brief);
        bool many = script->memory > script->heap.collect_at;
        if (many && script->brief) script->heap.wanted = true;
        if (many && !script->brief) script->heap.due = true;
    }
    bool over = script->memory > script->heap.limit;
    if (over && script->brief) script->heap.wanted = true;
    if (script->heap.due || (over && !script->brief)) {
        script->heap.due = false;
        memory_collect(script->L);
    }
    pace_settle(script);
}

/* A call that ended by itself leaves its garbage to Lua's own collector. One that a limit ended may never be
 * called again, so that garbage would stay for ever. */
void memory_collect_idle(struct script *script)
{
    enum { LITTLE = 1 << 20 };
    struct script_heap *heap = &script->heap;
    size_t before = script->memory;
    bool much = before > LITTLE + 2 * heap->lived; /* as Lua's own pace allows */
    if (!script->L || script->call.depth > 0 || !(heap->due || heap->again || (heap->spent && much))) return;
    heap->due = false;
    memory_collect(script->L);
    heap->again = script->memory > LITTLE && script->memory < before - before / 4;
}
