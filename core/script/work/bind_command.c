/* raw.command: k8s.command. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "script/view/json_encode.h"
#include "script/view/view.h"
#include "script/vm/args.h"
#include "script/vm/feature.h"
#include "script/work/command.h"

enum { NAME_MAX_BYTES = 60, HELP_MAX_BYTES = 2000 };

/* A name is typed in a shell, and shown behind a script's name and a slash. `function` is whose errors it
 * has, here and below. */
static const char *name_arg(lua_State *L, int idx, const char *function)
{
    struct str name = arg_str(L, idx, lua_pushfstring(L, "%s: the name", function));
    return check_id(L, name, function, "name", NAME_MAX_BYTES);
}

static const char *help_arg(lua_State *L, int idx, const char *function)
{
    struct str help = arg_str_opt(L, idx, lua_pushfstring(L, "%s: help", function));
    if (help.n > HELP_MAX_BYTES)
        script_raise(L, "%s: help has %zu bytes, and may have at most %d", function, help.n, HELP_MAX_BYTES);
    return help.p ? help.p : "";
}

/* new(name, function, help, where): `where` is the function of k8s that errors tell, k8s.command if it is
 * absent. */
static int l_command_new(lua_State *L)
{
    struct script *script = script_of(L);
    struct script_commands *commands = script->own.commands;
    lua_settop(L, 4);
    const char *where = lua_type(L, 4) == LUA_TSTRING ? own_text(L, 4) : "k8s.command";
    arg_loading(L, where);
    const char *name = name_arg(L, 1, where), *help = help_arg(L, 3, where);
    arg_function(L, 2, lua_pushfstring(L, "%s: the second argument", where));
    if (commands_find(script, name)) script_raise(L, "%s: the command %s is already registered", where, name);
    if (commands->count == COMMANDS_MAX)
        script_raise(L, "%s: a script can have at most %d commands", where, COMMANDS_MAX);
    lua_pushvalue(L, 2);
    int function = luaL_ref(L, LUA_REGISTRYINDEX);
    struct script_command *command = array_add(commands->items, commands->count);
    *command = (struct script_command){.name = xstrdup(name), .help = xstrdup(help), .function = function};
    char *id = xasprintf("command/%s", name);
    quarantine_init(&command->quarantine, script, id, NULL);
    free(id);
    return 0;
}

static void take_text(lua_State *L, struct command_call *call)
{
    struct str text;
    text.p = lua_tolstring(L, 1, &text.n);
    arg_value_size(L, "the result", text.n);
    buf_str(&call->result, text);
}

/* result(...): what the function of a command returned. Gives nil, err on, which is a failure of its task. */
static int l_command_result(lua_State *L)
{
    struct command_call *call = command_call_current(script_of(L));
    call->result.len = 0;
    if (lua_isnoneornil(L, 1)) {
        call->returned_error = !lua_isnoneornil(L, 2);
        lua_settop(L, 2);
        return 2;
    }
    if (lua_type(L, 1) == LUA_TSTRING || lua_type(L, 1) == LUA_TNUMBER) {
        take_text(L, call);
    } else if (lua_isboolean(L, 1)) {
        buf_puts(&call->result, lua_toboolean(L, 1) ? "true" : "false");
    } else {
        const struct buf *json = json_encode(L, 1, "the result", 0);
        buf_str(&call->result, buf_slice(json));
        call->is_json = true;
    }
    return 0;
}

/* raw.command.runner(fn): what calls the function of a command */
static int l_command_runner(lua_State *L)
{
    lua_settop(L, 1);
    set_ref(L, REF_RUN_COMMAND);
    return 0;
}

static void bind_command(lua_State *L)
{
    static const luaL_Reg verbs[] = {
        {"new", l_command_new}, {"result", l_command_result}, {"runner", l_command_runner}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, verbs);
    lua_setfield(L, -2, "command");
}

const struct feature feature_command = {
    .parts = {"command"}, .bind = bind_command, FEATURE_OWNS(commands), .close = commands_clear};
