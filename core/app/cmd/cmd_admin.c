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
    .no_arguments = "",
    .flags = view_flags,
    .run = run_view,
};

const struct command cmd_config = {
    .name = "config",
    .summary = "Show the settings of a running engine",
    .no_arguments = "",
    .flags = view_flags,
    .run = run_view,
};

const struct command cmd_queue = {
    .name = "queue",
    .summary = "Show work queues",
    .no_arguments = "",
    .flags = view_flags,
    .run = run_view,
};

const struct command cmd_writes = {
    .name = "writes",
    .summary = "Show recent writes of scripts",
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
    .flags = reload_flags,
    .run = run_reload,
};

const struct command cmd_rollback = {
    .name = "rollback",
    .summary = "Roll a script back to its previous version",
    .flags = reload_flags,
    .run = run_reload,
};
