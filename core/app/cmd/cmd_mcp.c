/* `kubelua mcp`: a running engine for clients of the Model Context Protocol, on stdin and stdout. What it
 * does is Lua (lua/tool/mcp/). */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd/admin_tool.h"
#include "app/cmd/mcp_tool.h"
#include "base/mem.h"

static struct {
    bool writes, show_secrets;
    int64_t timeout_ms;
    size_t max_output;
    const char *socket;
} given = {.timeout_ms = 120000, .max_output = 48 << 10};

static const struct flag flags[] = {
    {"allow-writes", 0, FLAG_BOOL, &given.writes, NULL, NULL,
     "Also offer call, reload, rollback and lift, which change something"},
    {"show-secrets", 0, FLAG_BOOL, &given.show_secrets, NULL, NULL,
     "Show the data of Secrets, instead of their sizes, to the client"},
    {"timeout", 0, FLAG_DURATION_MS, &given.timeout_ms, "DURATION", NULL,
     "Cancel the call of a tool after this time (default 2m; 0: never)"},
    {"max-output", 0, FLAG_SIZE, &given.max_output, "SIZE", NULL,
     "Cut the result of a tool that is larger (default 48Ki)"},
    FLAG_ADMIN_SOCKET(&given.socket),
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

/* Flags in the environment were for this command: the commands that it runs get theirs in words. */
static void forget_environment(void)
{
    for (char **entry = environ; *entry;) {
        size_t name = strcspn(*entry, "=");
        char *copy = strncmp(*entry, "KUBELUA_", 8) == 0 ? xstrndup(*entry, name) : NULL;
        if (copy) unsetenv(copy);
        entry = copy ? environ : entry + 1;
        free(copy);
    }
}

static int run(struct command_line *line)
{
    signal(SIGPIPE, SIG_IGN);
    forget_environment();
    return admin_tool_run(flags, line, mcp_tool_push);
}

const struct command cmd_mcp = {
    .name = "mcp",
    .summary = "Serve a running engine to clients of the Model Context Protocol",
    .no_arguments = "",
    .flags = flags,
    .run = run,
};
