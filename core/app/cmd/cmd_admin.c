/* The flags of the commands that ask a running engine by its admin socket. What they do is Lua
 * (lua/tool/admin/). */
#include "app/cmd/admin_tool.h"

static struct {
    const char *view, *table, *text; /* forms of the output */
    const char *socket, *lift;
    int64_t timeout_ms;
} given = {.view = "table", .table = "table", .text = "text"};

#define END_OF_FLAGS                                 \
    {                                                \
        NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL \
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
    return admin_tool_run(view_flags, line, NULL);
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
    return admin_tool_run(call_flags, line, NULL);
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
    return admin_tool_run(quarantine_flags, line, NULL);
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
    return admin_tool_run(reload_flags, line, NULL);
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
