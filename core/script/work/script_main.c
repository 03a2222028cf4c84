/* k8s.main, and how it runs; see script_main.h. */
#include "script/work/script_main.h"

#include <stdio.h>

#include "base/must.h"
#include "script/handlers/handler.h"
#include "script/handlers/initial_sync.h"
#include "script/inventory/bind_inventory.h"
#include "script/inventory/function_hash.h"
#include "script/vm/args.h"
#include "script/vm/failure_log.h"
#include "script/vm/feature.h"
#include "script/vm/state.h"
#include "script/vm/task.h"

enum { EXIT_CODE_MAX = 255 };

static void push_main(lua_State *L, void *ctx)
{
    script_push_function(L, script_of(L)->refs[REF_MAIN]);
}

/* Reads the failure before any other call, which would overwrite it. */
static void report_main(struct script *script, enum script_result result)
{
    script->own.main->ended = true;
    if (result == SCRIPT_OK || result == SCRIPT_CANCELLED) return;
    buf_str(&script->own.main->failure, buf_slice(&script->failure.text));
    failure_log_add(NULL, script, SCRIPT_MAIN, result, (const struct log_field[]){{.key = NULL}});
}

static void main_ended(void *ctx, enum script_result result)
{
    struct script *script = ctx;
    report_main(script, result);
    if (result != SCRIPT_CANCELLED)
        script->own.main->done(script->own.main->ctx, result, script->own.main->exit_code);
}

static void describe_main(void *ctx, struct buf *caller, struct buf *trigger)
{
    buf_puts(caller, "main");
    buf_puts(trigger, "start");
}

void script_skip_main(struct script *script)
{
    script->own.main->skipped = true;
}

void script_run_main(struct script *script, script_main_done *done, void *ctx)
{
    struct task *task;
    must(script->own.main->given && !script->own.main->done);
    script->own.main->done = done;
    script->own.main->ctx = ctx;
    const struct task_call call = {.what = "main",
                                   .cpu = LIMIT_MAIN_CPU,
                                   .pauses = true,
                                   .function = script->refs[REF_RUN_MAIN],
                                   .prepare = push_main,
                                   .done = main_ended,
                                   .describe = describe_main,
                                   .ctx = script};
    enum script_result result = task_run(script, &call, &task);
    if (result != SCRIPT_YIELDED) report_main(script, result);
    handlers_attach(script);
    if (result != SCRIPT_YIELDED) script->own.main->done(ctx, result, script->own.main->exit_code);
}

/* --- raw.main: what k8s.main is; raw.main_result */

static int l_main(lua_State *L)
{
    struct script *script = script_of(L);
    char hash[FUNCTION_HASH_LEN + 1], detail[FUNCTION_HASH_LEN + 16];
    arg_loading(L, "k8s.main");
    arg_function(L, 1, "k8s.main: the argument");
    if (script->own.main->given) script_raise(L, "k8s.main was already called");
    lua_settop(L, 1);
    function_hash(L, 1, hash);
    snprintf(detail, sizeof detail, "function %s", hash);
    inventory_note(L, INVENTORY_MAIN, STR("k8s.main"), str_of(detail));
    set_ref(L, REF_MAIN);
    script->own.main->given = true;
    return 0;
}

/* main_result(...): what main returned. Nothing, nil or true: 0; a number: the exit code; nil, err: failed;
 * anything else is a mistake. */
static int l_main_result(lua_State *L)
{
    lua_settop(L, 2);
    if (lua_isnil(L, 1) && !lua_isnil(L, 2)) return lua_error(L);
    if (lua_isnil(L, 1) || (lua_isboolean(L, 1) && lua_toboolean(L, 1))) return 0;
    if (lua_type(L, 1) != LUA_TNUMBER)
        script_raise(L, "k8s.main returned %s: an exit code is a whole number from 0 to %d",
                     lua_isboolean(L, 1) ? "false" : lua_typename(L, lua_type(L, 1)), EXIT_CODE_MAX);
    lua_Number code = lua_tonumber(L, 1);
    if (!(code >= 0 && code <= EXIT_CODE_MAX) || code != (lua_Number)(int)code)
        script_raise(L, "k8s.main returned %.14g: an exit code is a whole number from 0 to %d", code,
                     EXIT_CODE_MAX);
    script_of(L)->own.main->exit_code = (int)code;
    return 0;
}

static void bind_main(lua_State *L)
{
    static const luaL_Reg verbs[] = {{"main", l_main}, {"main_result", l_main_result}, {NULL, NULL}};
    luaL_register(L, NULL, verbs);
}

/* Main runs once and may end the process, so it waits for complete caches however long that takes. */
static void claims_changed(struct script *script)
{
    struct script_main *main = script->own.main;
    if (!main->given || main->skipped || main->done || main->wait_logged) return;
    if (script->phase != SCRIPT_RUNNING || !initial_sync_reached(script)) return;
    initial_sync_log(script, "k8s.main waits for an informer that cannot sync");
    main->wait_logged = true;
}

static void close_main(struct script *script)
{
    buf_clear(&script->own.main->failure);
}

const struct feature feature_main = {.parts = {"main", "main_result"},
                                     .bind = bind_main,
                                     FEATURE_OWNS(main),
                                     .close = close_main,
                                     .claims_changed = claims_changed};
