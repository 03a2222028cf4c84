/* `kubelua plan`: what a reload would change in a running engine. What is done is Lua (lua/tool/plan/). */
#include <signal.h>

#include "app/cmd/admin_tool.h"
#include "app/plan/plan_files.h"
#include "base/log.h"

static struct {
    struct flag_list files, lua_path;
    const char *output, *socket;
} given = {.output = "text"};

static const struct flag flags[] = {
    FLAG_SCRIPT_FILES(&given.files),
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
    int code = admin_tool_run(flags, line, plan_files_open);
    flag_list_clear(&given.files);
    flag_list_clear(&given.lua_path);
    return code;
}

const struct command cmd_plan = {
    .name = "plan",
    .summary = "Preview what a reload would change",
    .help =
        "Preview a reload: compare what the files would register with what is running, script by script.\n\n"
        "The files are loaded locally with the engine's settings; nothing runs, and the engine does not "
        "change.\n"
        "Files are matched to scripts by name or by its last part, so a copy of the script directory works.\n"
        "Reloads that would be refused, such as a new k8s.state version without migrate or a conflicting\n"
        "metric, are reported. Unknown kinds are not detected: use kubelua check. -o json includes function "
        "hashes.\n\n"
        "Usage:\n"
        "  kubelua plan -f FILE|DIR ... [flags]\n\n"
        "Exit codes: 0 no differences; 1 differences; 2 the engine or a file could not be read; 3 a reload\n"
        "would be refused.\n\n"
        "Examples:\n"
        "  kubelua plan -f scripts/\n"
        "  kubelua plan -f scripts/images.lua -o json\n\n"
        "Flags:",
    .no_arguments = "; use -f for scripts",
    .flags = flags,
    .run = run,
};
