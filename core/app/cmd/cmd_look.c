/* `kubelua get`, `query`, `history` and `top`: objects of a running engine, and what takes its time. What
 * they do is Lua (lua/tool/look/). */
#include "app/check/check_schema.h"
#include "app/cmd/admin_tool.h"
#include "app/cmd/session_tool.h"

static struct {
    const char *form, *namespace_, *selector, *field_selector, *value;
    const char *socket;
    const char *sort_by, *order;
    struct flag_list labels;
    int64_t interval_ms;
    bool all, show_labels, show_secrets, once, objects;
    bool watch, watch_only, watch_events;
} given = {.form = "table", .value = "table", .sort_by = "cpu", .interval_ms = 2000};

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
    {"output", 'o', FLAG_STRING, &given.form, "FORMAT", "table|wide|json|yaml|name|custom-columns=|jsonpath=",
     "Output format: table, wide, json, yaml, name, custom-columns=HEADING:PATH,... or jsonpath=TEMPLATE "
     "(default table)"},
    {"label-columns", 'L', FLAG_LIST, &given.labels, "LABEL,...", NULL,
     "In a table, columns with the values of these labels (repeatable)"},
    {"show-labels", 0, FLAG_BOOL, &given.show_labels, NULL, NULL,
     "In a table, all labels as the last column"},
    {"sort-by", 0, FLAG_STRING, &given.order, "JSONPATH", NULL,
     "Order of the objects, by a field that is a number or string: '{.metadata.creationTimestamp}' (default "
     "in a table by namespace and name)"},
    {"watch", 'w', FLAG_BOOL, &given.watch, NULL, NULL, "Then show changes as they come, until interrupted"},
    {"watch-only", 0, FLAG_BOOL, &given.watch_only, NULL, NULL, "Show changes only"},
    {"output-watch-events", 0, FLAG_BOOL, &given.watch_events, NULL, NULL,
     "Watch, and show the type of each change: ADDED, MODIFIED or DELETED"},
    FLAG_SHOW_SECRETS("Show the data of Secrets instead of their sizes"),
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

/* Both have a function `parse`; the one of the session reads numbers exactly where it is told to. */
static void push_get(lua_State *L)
{
    check_schema_set(L);
    session_tool_push(L);
}

static int run_get(struct command_line *line)
{
    return admin_tool_run(get_flags, line, push_get);
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

static const struct flag history_flags[] = {
    {"namespace", 'n', FLAG_STRING, &given.namespace_, "NAMESPACE", NULL,
     "Namespace of the object (default default; NAMESPACE/NAME names one, too)"},
    {"output", 'o', FLAG_CHOICE, &given.value, "table|json|yaml", "table|json|yaml",
     "Output format (default table)"},
    {"objects", 0, FLAG_BOOL, &given.objects, NULL, NULL,
     "With -o json and yaml: also the complete object of each version"},
    FLAG_SHOW_SECRETS("Show the data of Secrets instead of their sizes"),
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

static int run_history(struct command_line *line)
{
    return admin_tool_run(history_flags, line, session_tool_push);
}

const struct command cmd_history = {
    .name = "history",
    .summary = "Show the last versions of an object",
    .flags = history_flags,
    .run = run_history,
};

static const struct flag top_flags[] = {
    {"sort-by", 0, FLAG_CHOICE, &given.sort_by, "cpu|events|latency|memory|errors|name",
     "cpu|events|latency|memory|errors|name", "Order of scripts, and of handlers in each (default cpu)"},
    {"interval", 0, FLAG_DURATION_MS, &given.interval_ms, "DURATION", NULL,
     "Time between two samples, at least 100ms (default 2s)"},
    {"once", 0, FLAG_BOOL, &given.once, NULL, NULL,
     "Print one sample and end; the default unless stdout is a terminal"},
    FLAG_ADMIN_SOCKET(&given.socket),
    END_OF_FLAGS,
};

static int run_top(struct command_line *line)
{
    return admin_tool_run(top_flags, line, NULL);
}

const struct command cmd_top = {
    .name = "top",
    .summary = "Show which scripts and handlers take a running engine's time",
    .no_arguments = "",
    .flags = top_flags,
    .run = run_top,
};
