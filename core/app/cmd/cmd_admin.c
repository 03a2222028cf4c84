/* The commands that ask a running engine by its admin socket. What they do with the answers is Lua
 * (lua/tool/admin/): here are their flags, and the host that it has. */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "app/admin/admin_client.h"
#include "app/cmd/cmd.h"
#include "base/mem.h"
#include "object/parse/document.h"
#include "tool/tool.h"

static struct {
    const char *view, *table, *text; /* forms of the output */
    const char *socket, *lift;
    int64_t timeout_ms;
} given = {.view = "table", .table = "table", .text = "text"};

#define END_OF_FLAGS                                 \
    {                                                \
        NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL \
    }

/* --- answers */

static const char answer_class[] = "admin.answer";

static struct admin_client *answer_at(lua_State *L)
{
    return *(struct admin_client **)luaL_checkudata(L, 1, answer_class);
}

/* What the engine answered, or a field of it: the name is the argument. 0: it has none. */
static size_t place_of(lua_State *L, int argument)
{
    const struct admin_client *client = answer_at(L);
    const char *field = luaL_optstring(L, argument, NULL);
    size_t result = admin_client_result(client);
    return field ? tape_field(admin_client_tape(client), result, str_of(field)) : result;
}

/* answer:value(field): nil without such a field. */
static int answer_value(lua_State *L)
{
    size_t at = place_of(L, 2);
    if (!at) return 0;
    tool_push_json(L, admin_client_tape(answer_at(L)), at);
    return 1;
}

static int answer_cells(lua_State *L)
{
    tool_push_cells(L, admin_client_tape(answer_at(L)), place_of(L, 2));
    return 1;
}

/* answer:text("json" or "yaml", field) */
static int answer_text(lua_State *L)
{
    struct buf text = {0};
    const struct tape *tape = admin_client_tape(answer_at(L));
    if (str_is(str_of(luaL_checkstring(L, 2)), "json"))
        document_json(tape, place_of(L, 3), &text);
    else
        document_yaml(tape, place_of(L, 3), &text);
    lua_pushlstring(L, buf_text(&text), text.len);
    buf_clear(&text);
    return 1;
}

static int answer_free(lua_State *L)
{
    admin_client_free(answer_at(L));
    return 0;
}

static void make_answer_class(lua_State *L)
{
    static const luaL_Reg methods[] = {{"value", answer_value},
                                       {"cells", answer_cells},
                                       {"text", answer_text},
                                       {"__gc", answer_free},
                                       {NULL, NULL}};
    luaL_newmetatable(L, answer_class);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

/* --- the host */

/* request(socket, method, params, timeout_ms): the answer; or nil, why, and whether an engine was there. With
 * parameters it is waited for as long as the last argument says, for ever without. */
static int l_request(lua_State *L)
{
    struct err err = {0};
    const char *path = luaL_optstring(L, 1, NULL), *method = luaL_checkstring(L, 2);
    const char *params = luaL_optstring(L, 3, NULL);
    struct admin_client **client = lua_newuserdata(L, sizeof(struct admin_client *));
    *client = params ? admin_client_call(path, method, params, luaL_optinteger(L, 4, 0), &err)
                     : admin_client_request(path, method, &err);
    if (*client) {
        luaL_setmetatable(L, answer_class);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    lua_pushboolean(L, err.code == ERR_TIMEOUT || err.code == ERR_CLOSED);
    return 3;
}

/* A text as JSON. */
static int l_quote(lua_State *L)
{
    struct buf text = {0};
    buf_json_string(&text, str_of(luaL_checkstring(L, 1)));
    lua_pushlstring(L, buf_text(&text), text.len);
    buf_clear(&text);
    return 1;
}

static int l_sleep(lua_State *L)
{
    nanosleep(&(struct timespec){.tv_nsec = luaL_checkinteger(L, 1) * 1000000L}, NULL);
    return 0;
}

static void push_host(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"request", l_request}, {"quote", l_quote}, {"sleep", l_sleep}, {NULL, NULL}};
    static const struct {
        const char *name;
        int code;
    } codes[] = {
        {"OK", EXIT_OK}, {"FINDINGS", EXIT_FINDINGS}, {"USAGE", EXIT_USAGE}, {"INCOMPLETE", EXIT_INCOMPLETE}};
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        lua_pushinteger(L, codes[i].code);
        lua_setfield(L, -2, codes[i].name);
    }
}

/* How the terminal shows tables; without one they are as wide as they get. */
static void push_view(lua_State *L, bool wide)
{
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO);
    const char *no_color = getenv("NO_COLOR");
    size_t width = 80;
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) width = size.ws_col;
    lua_createtable(L, 0, 3);
    lua_pushboolean(L, wide);
    lua_setfield(L, -2, "wide");
    lua_pushinteger(L, terminal ? (lua_Integer)width : 0);
    lua_setfield(L, -2, "width");
    lua_pushboolean(L, terminal && !(no_color && *no_color));
    lua_setfield(L, -2, "colours");
}

static int run(const struct flag *flags, struct command_line *line)
{
    struct err err;
    lua_State *L = tool_open();
    make_answer_class(L);
    push_host(L);
    lua_pushstring(L, line->argv[0]);
    tool_push_flags(L, flags);
    tool_push_list(L, &line->arguments);
    push_view(L, str_is(str_of(given.view), "wide"));
    bool ok = tool_call(L, "tool.admin", &err);
    int code = ok ? (int)lua_tointeger(L, -1) : command_fail(line, err.text);
    lua_close(L);
    return code;
}

/* --- status, queue, writes */

static const struct flag view_flags[] = {
    {"output", 'o', FLAG_CHOICE, &given.view, "table|wide|json|yaml", "table|wide|json|yaml",
     "Output format (default table)"},
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

static int run_view(struct command_line *line)
{
    return run(view_flags, line);
}

const struct command cmd_status = {
    .name = "status",
    .summary = "Show the state of a running engine",
    .help = "Show the state of a running engine: its scripts, informers and queues, and their problems."
            "\n\nUsage:\n  kubelua status [-o table|wide|json|yaml]\n\nFlags:",
    .no_arguments = "",
    .flags = view_flags,
    .run = run_view,
};

const struct command cmd_queue = {
    .name = "queue",
    .summary = "Show work queues",
    .help = "Show work queues: waiting, processing and failing keys.\n\n"
            "Usage:\n"
            "  kubelua queue [-o table|wide|json|yaml]\n\n"
            "Flags:",
    .no_arguments = "",
    .flags = view_flags,
    .run = run_view,
};

const struct command cmd_writes = {
    .name = "writes",
    .summary = "Show recent writes of scripts",
    .help = "Show the last 1,000 writes of scripts: time, script, trigger, object and result.\n"
            "To log all writes to a file, use kubelua run --audit-log."
            "\n\nUsage:\n  kubelua writes [-o table|wide|json|yaml]\n\nFlags:",
    .no_arguments = "",
    .flags = view_flags,
    .run = run_view,
};

/* --- call */

static const struct flag call_flags[] = {
    {"output", 'o', FLAG_CHOICE, &given.table, "table|json|yaml", "table|json|yaml",
     "Output format for results that are not strings (default table)"},
    {"timeout", 0, FLAG_DURATION_MS, &given.timeout_ms, "DURATION", NULL,
     "Cancel the call after this time (default 0: never)"},
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

static int run_call(struct command_line *line)
{
    return run(call_flags, line);
}

const struct command cmd_call = {
    .name = "call",
    .summary = "Call a command that a script provides",
    .help =
        "Call a command that a script registered with k8s.command, and print its result. Without a name, "
        "list\n"
        "the commands.\n\n"
        "Usage:\n"
        "  kubelua call [SCRIPT/]NAME [ARGUMENT ...] [flags]\n\n"
        "Put arguments that start with - after --. Exit codes: 0 success; 1 the command returned nil and an\n"
        "error; 2 no such command or no engine; 3 the command failed or was cancelled. Ctrl-C cancels the "
        "call.\n\n"
        "Examples:\n"
        "  kubelua call\n"
        "  kubelua call orphans shop -o json\n\n"
        "Flags:",
    .flags = call_flags,
    .run = run_call,
};

/* --- quarantine */

static const struct flag quarantine_flags[] = {
    {"lift", 0, FLAG_STRING, &given.lift, "SCRIPT[/ID]", NULL,
     "Lift the quarantine of a script, or of one of its ids"},
    {"output", 'o', FLAG_CHOICE, &given.table, "table|json|yaml", "table|json|yaml",
     "Output format (default table)"},
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

static int run_quarantine(struct command_line *line)
{
    return run(quarantine_flags, line);
}

const struct command cmd_quarantine = {
    .name = "quarantine",
    .summary = "List or lift quarantined functions",
    .help =
        "List the quarantined functions of a running engine: handlers, queues, timers, commands, "
        "transforms,\n"
        "index functions and rules that exceeded a limit in three consecutive calls. --lift re-enables "
        "them:\n"
        "handlers receive the whole cache again, transforms relist, and indexes are rebuilt.\n\n"
        "Usage:\n"
        "  kubelua quarantine [--lift SCRIPT[/ID]] [flags]\n\n"
        "Names may be shortened while they stay unique: scripts/restarts/pods/1, restarts/pods/1, pods/1.\n"
        "scripts/restarts or restarts selects everything in that script.\n\n"
        "Exit codes: 0 success; 2 no engine, or nothing with that name is in quarantine.\n\n"
        "Examples:\n"
        "  kubelua quarantine\n"
        "  kubelua quarantine --lift restarts/pods/1\n\n"
        "Flags:",
    .no_arguments = "",
    .flags = quarantine_flags,
    .run = run_quarantine,
};

/* --- reload, rollback */

static const struct flag reload_flags[] = {
    {"output", 'o', FLAG_CHOICE, &given.text, "text|json", "text|json", "Output format (default text)"},
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

static int run_reload(struct command_line *line)
{
    return run(reload_flags, line);
}

const struct command cmd_reload = {
    .name = "reload",
    .summary = "Reload changed scripts",
    .help = "Reload changed scripts of a running engine and wait until they run.\n\n"
            "The engine also reloads by itself when a file changes. This command reports the result, and "
            "retries\n"
            "reloads that were refused. Without arguments, it checks all scripts and looks for new ones.\n"
            "Exit code 3: a reload was refused; the previous version keeps running.\n\n"
            "Usage:\n"
            "  kubelua reload [SCRIPT ...] [flags]\n\n"
            "Flags:",
    .flags = reload_flags,
    .run = run_reload,
};

const struct command cmd_rollback = {
    .name = "rollback",
    .summary = "Roll a script back to its previous version",
    .help =
        "Roll a script of a running engine back to its previous generation.\n\n"
        "The rollback is a reload: it creates a new generation, and a second rollback undoes it. The file "
        "on\n"
        "disk is not loaded again until it changes or you run kubelua reload.\n\n"
        "Usage:\n"
        "  kubelua rollback SCRIPT [flags]\n\n"
        "Flags:",
    .flags = reload_flags,
    .run = run_reload,
};
