/* `kubelua plan`: what a reload would change in a running engine. What is done is Lua (lua/tool/plan/). */
#include <signal.h>

#include "app/cmd/admin_tool.h"
#include "app/options/builtin_rules.h"
#include "app/options/given_scripts.h"
#include "app/plan/plan_files.h"
#include "base/log.h"

static struct {
    struct flag_list files, lua_path;
    bool recursive;
    const char *output, *socket;
} given = {.output = "text"};

static const struct flag flags[] = {
    FLAG_SCRIPT_FILES(&given.files),
    FLAG_RECURSIVE(&given.recursive),
    {"output", 'o', FLAG_CHOICE, &given.output, "text|json", "text|json", "Output format (default text)"},
    {"lua-path", 0, FLAG_LIST, &given.lua_path, "DIR", NULL,
     "Additional directory to search for Lua modules (repeatable; default: those of the engine)"},
    FLAG_ADMIN_SOCKET(&given.socket),
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static int run(struct command_line *line)
{
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (!given.files.count) return command_fail(line, "no script given; use -f FILE or -f DIR");
    struct builtin_paths builtin = {0};
    struct err err;
    int code =
        builtin_rules_resolve(&given.files, &builtin, &err) && given_scripts_resolve(&given.files, &err)
            ? admin_tool_run(flags, line, plan_files_open)
            : command_fail(line, err.text);
    builtin_paths_clear(&builtin);
    return code;
}

const struct command cmd_plan = {
    .name = "plan",
    .summary = "Preview what a reload would change",
    .no_arguments = "; use -f for scripts",
    .flags = flags,
    .run = run,
};
