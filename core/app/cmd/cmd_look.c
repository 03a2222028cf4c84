/* `kubelua get` and `kubelua query`: what a running engine has cached. What they do is Lua (lua/tool/look/).
 */
#include "app/cmd/admin_tool.h"
#include "app/cmd/session_tool.h"

static struct {
    const char *form, *namespace_, *selector, *field_selector, *value;
    const char *socket;
    bool all, show_secrets;
} given = {.form = "table", .value = "table"};

#define END_OF_FLAGS                                 \
    {                                                \
        NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL \
    }
#define FLAG_SHOW_SECRETS(text)                                               \
    {                                                                         \
        "show-secrets", 0, FLAG_BOOL, &given.show_secrets, NULL, NULL, (text) \
    }

static const struct flag get_flags[] = {
    {"namespace", 'n', FLAG_STRING, &given.namespace_, "NAMESPACE", NULL,
     "Only objects of this namespace (default: all that are cached)"},
    {"all-namespaces", 'A', FLAG_BOOL, &given.all, NULL, NULL, "Objects of all namespaces; the default"},
    {"selector", 'l', FLAG_STRING, &given.selector, "SELECTOR", NULL,
     "Only objects with these labels: app=web,tier!=db"},
    {"field-selector", 0, FLAG_STRING, &given.field_selector, "SELECTOR", NULL,
     "Only objects with these values at any paths: status.phase=Running,spec.nodeName!=n1"},
    {"output", 'o', FLAG_STRING, &given.form, "FORMAT", NULL,
     "Output format: table, wide, json, yaml, name, or custom-columns=HEADING:PATH,... (default table)"},
    FLAG_SHOW_SECRETS("Show the data of Secrets instead of their sizes"),
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

static int run_get(struct command_line *line)
{
    return admin_tool_run(get_flags, line, session_tool_push);
}

const struct command cmd_get = {
    .name = "get",
    .summary = "Show objects that a running engine has cached",
    .flags = get_flags,
    .run = run_get,
};

static const struct flag query_flags[] = {
    {"output", 'o', FLAG_CHOICE, &given.value, "table|json|yaml", "table|json|yaml",
     "Output format (default table)"},
    FLAG_SHOW_SECRETS("Permit reading Secrets"),
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

static int run_query(struct command_line *line)
{
    return admin_tool_run(query_flags, line, session_tool_push);
}

const struct command cmd_query = {
    .name = "query",
    .summary = "Evaluate an expression on the caches of a running engine",
    .flags = query_flags,
    .run = run_query,
};
