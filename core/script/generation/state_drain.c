/* Emptying a Lua state in steps; see state_drain.h. Views lose their finalizers, which the collector would
 * call one by one in a second cycle: their objects are released from the table of retained ones. */
#include "script/generation/state_drain.h"

#include "base/time/piece_meter.h"
#include "script/vm/args.h"
#include "script/vm/memory.h"
#include "script/vm/retained.h"
#include "script/vm/task.h"
#include "script/vm/turns.h"

enum { RELEASED = 512, COLLECTED = 2 };
/* Bytes that lua_close frees soon; and cycles, the first of which may have seen as alive what is garbage now.
 */
enum { LITTLE = 2 << 20, CYCLES = 2 };

static void drop_finalizer(lua_State *L, const struct script *script, enum script_class class_)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->classes[class_].metatable);
    lua_pushnil(L);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}

/* Values that lines have put into globals are garbage from now on, too. */
static int l_let_go(lua_State *L)
{
    const struct script *script = script_of(L);
    drop_finalizer(L, script, CLASS_OBJECT);
    drop_finalizer(L, script, CLASS_VIEW);
    for (lua_pushnil(L); lua_next(L, LUA_GLOBALSINDEX); lua_pop(L, 1)) {
        lua_pushvalue(L, -2);
        lua_pushnil(L);
        lua_rawset(L, LUA_GLOBALSINDEX);
    }
    return 0;
}

static void begin(struct script *script, struct state_drain *drain)
{
    tasks_clear(script);
    if (script->host->turns) turns_hold(script);
    pace_run(script);
    bool well = lua_cpcall(script->L, l_let_go, NULL) == 0;
    drain->stage = well ? DRAIN_OBJECTS : DRAIN_DONE;
}

static bool collect(struct script *script, struct state_drain *drain)
{
    for (int i = 0; i < COLLECTED && drain->cycles < CYCLES; i++)
        drain->cycles += lua_gc(script->L, LUA_GCSTEP, 0) == 1;
    return drain->cycles == CYCLES || script->memory < LITTLE;
}

bool state_drain_step(struct script *script, struct state_drain *drain)
{
    static const char *const stages[] = {[DRAIN_NOT_BEGUN] = "letting go of globals",
                                         [DRAIN_OBJECTS] = "the release of objects",
                                         [DRAIN_HEAP] = "the collection of what is left",
                                         [DRAIN_DONE] = "nothing"};
    piece_enter(script->brief, stages[drain->stage]);
    switch (drain->stage) {
    case DRAIN_NOT_BEGUN: begin(script, drain); break;
    case DRAIN_OBJECTS:
        if (retained_release(script, RELEASED)) drain->stage = DRAIN_HEAP;
        break;
    case DRAIN_HEAP:
        if (collect(script, drain)) drain->stage = DRAIN_DONE;
        break;
    case DRAIN_DONE: break;
    }
    return drain->stage == DRAIN_DONE;
}
