/* The state that specs run in, and the call of busted; see spec_runner.h. */
#include "script/specs/spec_runner.h"

#include <lualib.h>
#include <stdio.h>

#include "base/log.h"
#include "script/generation/script_open.h"
#include "script/vm/args.h"
#include "script/vm/call.h"
#include "script/vm/modules.h"
#include "script/vm/state.h"

/* require of the modules that lua/k8s/test is made of: those of the binary first, then whatever a spec could
 * require. */
static void make_environment(lua_State *L)
{
    lua_newtable(L);
    lua_newtable(L);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    set_ref(L, REF_INTERNAL_ENV);
}

/* Loads a module of specs when `require` first names it. */
static int l_preload(lua_State *L)
{
    modules_internal(L, own_text(L, lua_upvalueindex(1)));
    return 1;
}

static void preload(lua_State *L, const char *name, const char *module)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    lua_pushstring(L, module);
    lua_pushcclosure(L, l_preload, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 2);
}

static int l_open(lua_State *L)
{
    const struct spec_run *run = lua_touserdata(L, 1);
    luaL_openlibs(L);
    make_environment(L);
    state_make_api(L);
    run->bind(L);
    modules_open_internal(L);
    preload(L, "k8s", "k8s.test.api");
    preload(L, "k8s.test", "k8s.test");
    return 0;
}

static void push_texts(lua_State *L, const char *const *texts, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushstring(L, texts[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

/* Leaves what run.lua says: "passed", "failed" or "not run". */
static int l_run(lua_State *L)
{
    const struct spec_run *run = lua_touserdata(L, 1);
    modules_internal(L, "k8s.test.run");
    push_texts(L, run->files, run->file_count);
    push_texts(L, run->arguments, run->argument_count);
    lua_call(L, 2, 1);
    const char *outcome = own_text(L, -1);
    script_of(L)->own.main->exit_code = !outcome                         ? SPECS_NOT_RUN
                                        : strcmp(outcome, "passed") == 0 ? SPECS_PASSED
                                        : strcmp(outcome, "failed") == 0 ? SPECS_FAILED
                                                                         : SPECS_NOT_RUN;
    return 0;
}

static enum spec_result run_in(struct script *spec, const struct spec_run *run)
{
    call_enter(spec, "a spec", "a spec", LIMIT_HANDLER_CPU, __builtin_frame_address(0));
    bool ok = lua_cpcall(spec->L, l_open, (void *)run) == 0 && lua_cpcall(spec->L, l_run, (void *)run) == 0;
    if (!ok) {
        const char *text = own_text(spec->L, -1);
        fprintf(stderr, "kubelua test: %s\n", text ? text : "an error without a message");
    }
    call_leave(spec, SCRIPT_OK);
    return ok ? (enum spec_result)spec->own.main->exit_code : SPECS_NOT_RUN;
}

/* Bytes of what k8s.yaml, k8s.json and the like make in one call: ten lines of aliases could fill the memory.
 */
enum { VALUE_MAX = 64 << 20 };

enum spec_result spec_runner_run(const struct spec_run *run)
{
    struct err err;
    struct script *spec = script_new(run->host, &(struct script_source){.path = "spec", .name = "spec"});
    enum spec_result result = SPECS_NOT_RUN;
    spec->trusted = true; /* specs are the user's programs, as any other */
    for (int i = 0; i < LIMIT_COUNT; i++) spec->limits.values[i] = LIMIT_NONE;
    spec->limits.values[LIMIT_VALUE_SIZE] = VALUE_MAX;
    if (state_new(spec, &err))
        result = run_in(spec, run);
    else
        fprintf(stderr, "kubelua test: %s\n", err.text);
    script_free(spec);
    return result;
}
