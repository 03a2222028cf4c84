/* More of raw.test: the next generation of a script under test; see bind_test.c. */
#include "script/generation/hand_over.h"
#include "script/specs/bind_spec_internal.h"
#include "script/vm/args.h"

static void set_count(lua_State *L, const char *name, size_t count)
{
    lua_pushnumber(L, (lua_Number)count);
    lua_setfield(L, -2, name);
}

/* reload(engine, name, text or nil): what became of what the old generation had; or nil and why it was
 * refused */
static int l_reload(lua_State *L)
{
    struct err err;
    struct hand_over done;
    struct test_engine *engine = test_engine_arg(L);
    const char *name = arg_str(L, 2, "name").p;
    if (!test_ops()->reload(engine, name, arg_bytes_opt(L, 3, "env:reload: the text"), &done, &err))
        return test_result(L, false, &err);
    lua_createtable(L, 0, 6);
    set_count(L, "handlers_kept", done.kept);
    set_count(L, "handlers_added", done.added);
    set_count(L, "handlers_removed", done.removed);
    set_count(L, "events_dropped", done.dropped_events);
    set_count(L, "keys_dropped", done.dropped_keys);
    set_count(L, "timers_cancelled", done.cancelled_timers);
    return 1;
}

/* source(engine, name): the text that the script runs from; nil without a script */
static int l_source(lua_State *L)
{
    struct str text = test_ops()->source(test_engine_arg(L), arg_str(L, 2, "name").p);
    if (!text.p) return 0;
    lua_pushlstring(L, text.p, text.n);
    return 1;
}

void bind_test_reload(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"reload", l_reload}, {"source", l_source}, {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}
