/* Pace of Lua's collector; see memory.h. LuaJIT tells neither where its cycle is nor what it owes:
 * what calls have allocated since the last step is what the next one is to work off. A userdata without a
 * reference, of which its finalizer makes another one, tells of cycles that end within a call. */
#include "script/vm/memory.h"

#include <stdint.h>

#include "base/time/piece_meter.h"
#include "script/vm/args.h"
#include "script/vm/state.h"
#include "script/vm/turns.h"

/* LuaJIT's own pace lets garbage grow to the size of what lives, which is cheap where there is room: here up
 * to where a collection of all at once would be due. A collector in haste costs a script most of its CPU if
 * many objects live. */
enum { PAUSE = 200, PAUSE_STEP = 10, PAUSE_MIN = 110, STEP = 200, HASTY_STEP = 400 };
/* Bytes between two steps: each has a price of its own. */
enum { STEP_BYTES = 16 << 10 };
/* Bytes that each call works off in a hurry: some 0.1 ms. */
enum { HURRY_BYTES = 64 << 10 };

static size_t own_bytes(const struct script *script)
{
    return script->memory - script->heap.kept;
}

static int l_cycle_ended(lua_State *L)
{
    struct script *script = script_of(L);
    if (script->heap.pace.closed) return 0;
    script->heap.pace.ended = true;
    lua_newuserdata(L, 0);
    lua_getmetatable(L, 1);
    lua_setmetatable(L, -2);
    return 0;
}

void pace_open(lua_State *L)
{
    lua_newuserdata(L, 0);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, l_cycle_ended);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

void pace_close(struct script *script)
{
    script->heap.pace.closed = true;
    pace_hurry_end(script);
}

/* Bytes that live, as LuaJIT counts them: those of the time at which it began to sweep, without what it has
 * freed since, and without the views whose finalizers it has called, which only the next cycle frees. A heap
 * that counted these and what was allocated meanwhile would double in each cycle. */
static size_t living(const struct script *script, size_t own, size_t beside)
{
    const struct script_pace *pace = &script->heap.pace;
    size_t alive = pace->sweeps ? pace->alive - beside : own;
    alive = alive > pace->dying ? alive - pace->dying : 0;
    return alive < own ? alive : own;
}

/* Likewise, without retained objects: those of the time at which it began to sweep, as they may have been
 * counted again since. */
static size_t living_in_lua(const struct script *script)
{
    return living(script, own_bytes(script) - script->retained.bytes, script->heap.pace.beside);
}

/* A cycle has ended: what lives is known, and the next cycle begins when garbage has added up. */
static void rest(struct script *script)
{
    struct script_pace *pace = &script->heap.pace;
    size_t own = living(script, own_bytes(script), 0), dead = own_bytes(script) - own,
           room = script->heap.limit / 4 * 3;
    size_t lua = (size_t)lua_gc(script->L, LUA_GCCOUNT, 0) << 10;
    lua = lua > dead ? lua - dead : 0;
    int pause = PAUSE;
    while (pause > PAUSE_MIN && own / 100 * (size_t)pause > room) pause -= PAUSE_STEP;
    pace->found = living_in_lua(script);
    pace->ended = false;
    pace->sweeps = false;
    pace->dying = 0;
    pace->rests = true;
    if (pace->hurry > 0 && --pace->hurry == 0) {
        script->heap.dead_objects = 0;
        pace_hurry_end(script);
    }
    pace->due = pace->paid = own + lua / 100 * (size_t)(pause - 100);
    if (pause == pace->pause) return;
    pace->pause = pause;
    lua_gc(script->L, LUA_GCSETPAUSE, pause);
    lua_gc(script->L, LUA_GCSETSTEPMUL, pause < PAUSE ? HASTY_STEP : STEP);
}

/* Only sweeping frees anything between calls. */
static void note_swept(struct script *script, size_t before, size_t after)
{
    struct script_pace *pace = &script->heap.pace;
    if (after >= before) return;
    if (!pace->sweeps) {
        pace->alive = before;
        pace->beside = script->retained.bytes;
    }
    pace->sweeps = true;
    pace->alive -= before - after;
}

/* Works off what was allocated since the last time, without what the collector has seen within a call. Lua
 * allocates while it collects, and an error raised there would corrupt the collection. */
static void step(struct script *script)
{
    struct script_pace *pace = &script->heap.pace;
    size_t own = own_bytes(script), owed = own > pace->paid ? own - pace->paid : 0;
    bool refuses = script->heap.refuses;
    if (owed > PACE_ROOM) owed = PACE_ROOM;
    if (pace->hurry > 0 && owed < HURRY_BYTES) owed = HURRY_BYTES;
    pace->rests = false;
    const char *stage = piece_enter(script->brief, "a step of the collector");
    script->heap.refuses = false;
    /* Whatever the userdata says: finalizers of others may follow its own. */
    pace->ended = lua_gc(script->L, LUA_GCSTEP, (int)(owed >> 10)) == 1;
    script->heap.refuses = refuses;
    piece_enter(script->brief, stage);
    pace->runs = true;
    pace->paid = own_bytes(script);
    note_swept(script, own, pace->paid);
    pace->due = pace->paid + STEP_BYTES;
    if (pace->ended) rest(script);
}

void pace_settle(struct script *script)
{
    struct script_pace *pace = &script->heap.pace;
    if (pace->ended) rest(script);
    bool due = pace->hurry > 0 || own_bytes(script) >= pace->due;
    if (due && !pace->held) step(script);
    if (pace->runs) lua_gc(script->L, LUA_GCSTOP, 0);
    pace->runs = false;
    size_t own = own_bytes(script), wait = pace->due > own ? pace->due - own : 0;
    pace->room_end = pace->held ? SIZE_MAX : script->memory + wait + PACE_ROOM;
}

void pace_rest(struct script *script)
{
    struct script_pace *pace = &script->heap.pace;
    pace->due = pace->paid = 2 * own_bytes(script);
}

void pace_spare(struct script *script, size_t bytes)
{
    script->heap.pace.due += bytes;
    script->heap.pace.paid += bytes;
    if (script->heap.pace.room_end < SIZE_MAX - bytes) script->heap.pace.room_end += bytes;
}

void pace_run(struct script *script)
{
    script->heap.pace.room_end = SIZE_MAX;
    script->heap.pace.runs = true;
    if (script->L) lua_gc(script->L, LUA_GCRESTART, 0);
}

static bool is_next(struct script *script)
{
    struct turns *turns = script->host->turns;
    if (!turns || turns->hasty == script) return true;
    if (turns->hasty) return false;
    turns->hasty = script;
    return true;
}

void pace_hurry(struct script *script, bool is_late)
{
    struct script_pace *pace = &script->heap.pace;
    /* Before the collector sweeps, it has reached hardly any of the garbage of now. */
    if (pace->hurry == 0 && (is_next(script) || is_late)) pace->hurry = pace->sweeps ? 2 : 1;
}

void pace_hurry_end(struct script *script)
{
    struct turns *turns = script->host->turns;
    script->heap.pace.hurry = 0;
    if (turns && turns->hasty == script) turns->hasty = NULL;
}

void pace_hold(struct script *script, bool held)
{
    script->heap.pace.held = held;
}
