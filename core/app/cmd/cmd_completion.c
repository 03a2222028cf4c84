/* `kubelua completion`, and what shells, packages and the schema of the chart call: candidates for a command
 * line, man pages, flags. All of it is Lua (lua/tool/reference/). */
#include <stdio.h>

#include "app/cmd/admin_tool.h"
#include "app/cmd/reference_tool.h"
#include "app/cmd/session_tool.h"

static const struct flag no_flags[] = {{NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL}};

static int run(struct command_line *line)
{
    return admin_tool_run(no_flags, line, reference_tool_set);
}

static void set_completion(lua_State *L)
{
    reference_tool_set(L);
    session_tool_push(L);
}

/* The words of an unfinished command line are no flags of this one; what is wrong with them nobody wants to
 * know. */
static int run_complete(struct command_line *line)
{
    struct command_line words = *line;
    if (!freopen("/dev/null", "w", stderr)) return EXIT_OK;
    words.arguments = (struct flag_list){(const char **)line->argv + 1, (size_t)line->argc - 1};
    if (admin_tool_run(no_flags, &words, set_completion) != EXIT_OK) puts(":none");
    return EXIT_OK;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "Print a completion script for a shell",
    .run = run,
};

const struct command cmd_complete = {.name = "__complete", .run = run_complete};
const struct command cmd_man = {.name = "__man", .run = run};
const struct command cmd_flags = {.name = "__flags", .run = run};
