/* Tasks of a spec; see run.h. */
#include "run.h"
#include "script/generation/script.h"
#include "script/generation/script_open.h"
#include "script/vm/call.h"
#include "script/vm/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct virtual_clock run_clock;

static void begin(struct fixture *f)
{
    assert_lua(f,
               "k8s = require 'k8s' said = ''\n"
               "function say(...) said = said .. table.concat({...}, ' ') .. ';' end\n"
               "function take() local s = said said = '' return s end",
               "nil");
}

int run_setup(void **state)
{
    virtual_clock_init(&run_clock);
    fixture_setup(state);
    struct fixture *f = *state;
    f->host.clock = &run_clock.clock;
    begin(f);
    return 0;
}

int run_setup_packed(void **state)
{
    struct err err;
    virtual_clock_init(&run_clock);
    fixture_setup(state);
    struct fixture *f = *state;
    f->host.clock = &run_clock.clock;
    script_free(f->script);
    f->script =
        script_new(&f->host, &(struct script_source){.path = f->path, .name = "unit", .generation = 1});
    memory_pack(f->script);
    if (!state_open(f->script, &err)) fail_msg("%s", err.text);
    f->script->phase = SCRIPT_RUNNING;
    begin(f);
    return 0;
}

int run_teardown(void **state)
{
    fixture_teardown(state);
    virtual_clock_clear(&run_clock);
    return 0;
}

static int chunk;

static void load_chunk(lua_State *L, void *ctx)
{
    const struct run *run = ctx;
    if (luaL_loadbuffer(L, run->lua, strlen(run->lua), "@task.lua") != 0) lua_error(L);
    chunk = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void on_end(void *ctx, enum script_result result)
{
    struct run *run = ctx;
    run->ends++;
    run->result = result;
}

void run_start(struct fixture *f, struct run *run, const char *lua)
{
    *run = (struct run){.lua = lua};
    assert_int_equal(script_call(f->script, "a spec", load_chunk, run), SCRIPT_OK);
    run->result = task_run(
        f->script, &(struct task_call){.what = "a task", .function = chunk, .done = on_end, .ctx = run},
        &run->task);
    luaL_unref(f->script->L, LUA_REGISTRYINDEX, chunk);
}

enum script_result run_whole(struct fixture *f, const char *lua)
{
    struct run run;
    run_start(f, &run, lua);
    assert_int_equal(run.ends, 0);
    assert_null(run.task);
    return run.result;
}

void assert_failure(struct fixture *f, const char *part)
{
    const char *text = buf_text(&f->script->failure.text);
    if (!strstr(text, part)) fail_msg("\"%s\" is not in: %s", part, text);
}

void run_load(struct fixture *f, const char *lua)
{
    f->script->phase = SCRIPT_LOADING;
    assert_lua(f, lua, "nil");
    f->script->phase = SCRIPT_RUNNING;
}

void run_advance(int64_t ms)
{
    virtual_clock_advance(&run_clock, ms);
}
