/* Commands, flags and names as values of Lua; see reference_tool.h. */
#include "app/cmd/reference_tool.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "app/check/command_client.h"
#include "app/check/project_files.h"
#include "app/cmd/cmd.h"
#include "app/options/builtin_rules.h"
#include "kube/config/kubeconfig_file.h"
#include "kube/kinds/well_known.h"
#include "tool/tool.h"

/* Who presses Tab does not wait longer for a server. */
enum { KINDS_MS = 2000 };

/* --- the table of commands */

static const char *kind_name(const struct flag *flag)
{
    static const char *const names[] = {
        [FLAG_STRING] = "string", [FLAG_BOOL] = "bool",     [FLAG_INT] = "int",
        [FLAG_COUNT] = "count",   [FLAG_NUMBER] = "number", [FLAG_DURATION_MS] = "duration",
        [FLAG_SIZE] = "size",     [FLAG_CHOICE] = "choice", [FLAG_MODE] = "mode",
        [FLAG_LIST] = "list",
    };
    return names[flag->kind];
}

static void push_flag(lua_State *L, const struct flag *flag)
{
    char letter[2] = {flag->letter, '\0'};
    lua_newtable(L);
    tool_set_text(L, "name", flag->name);
    tool_set_text(L, "letter", flag->letter ? letter : NULL);
    tool_set_text(L, "kind", kind_name(flag));
    tool_set_text(L, "arg", flag->arg);
    tool_set_text(L, "values", flag->values);
    tool_set_text(L, "help", flag->help);
}

/* Appends a group to the list on top. */
static void add_group(lua_State *L, const char *heading, const struct flag *flags)
{
    lua_newtable(L);
    tool_set_text(L, "heading", heading);
    lua_newtable(L);
    for (const struct flag *flag = flags; flag->name; flag++) {
        push_flag(L, flag);
        tool_append(L);
    }
    lua_setfield(L, -2, "flags");
    tool_append(L);
}

static void push_command(lua_State *L, const struct command *command)
{
    lua_newtable(L);
    tool_set_text(L, "name", command->name);
    tool_set_text(L, "summary", command->summary);
    tool_set_text(L, "text", command_help_of(command));
    lua_newtable(L);
    if (command->flags) add_group(L, NULL, command->flags);
    for (const struct flag_group *group = command_flags(command); group->flags; group++)
        add_group(L, group->heading, group->flags);
    lua_setfield(L, -2, "groups");
}

static int l_commands(lua_State *L)
{
    lua_newtable(L);
    for (const struct command_group *group = command_groups; group->title; group++) {
        lua_newtable(L);
        tool_set_text(L, "title", group->title);
        lua_newtable(L);
        for (const struct command *const *c = group->commands; *c; c++) {
            push_command(L, *c);
            tool_append(L);
        }
        lua_setfield(L, -2, "commands");
        tool_append(L);
    }
    return 1;
}

/* --- names that a flag or an argument takes */

static const char *text_in(lua_State *L, int table, const char *name)
{
    lua_getfield(L, table, name);
    const char *text = lua_tostring(L, -1);
    lua_pop(L, 1); /* the table keeps it */
    return text;
}

/* A client of the server that the flags in the table name; NULL: none can be asked. `cluster` is its
 * configuration, which is cleared after it. */
static struct command_client *client_of(lua_State *L, int table, struct cluster_config *cluster)
{
    luaL_checktype(L, table, LUA_TTABLE);
    const struct cluster_flags flags = {
        .kubeconfig = text_in(L, table, "kubeconfig"),
        .context = text_in(L, table, "context"),
        .cluster = text_in(L, table, "cluster"),
        .user = text_in(L, table, "user"),
        .server = text_in(L, table, "server"),
        .token = text_in(L, table, "token"),
        .certificate_authority = text_in(L, table, "certificate-authority"),
        .client_certificate = text_in(L, table, "client-certificate"),
        .client_key = text_in(L, table, "client-key"),
        .tls_server_name = text_in(L, table, "tls-server-name"),
        .as = text_in(L, table, "as"),
        .insecure_skip_tls_verify = text_in(L, table, "insecure-skip-tls-verify") != NULL,
    };
    struct err err;
    const struct command_client_options options = {cluster, KINDS_MS, KINDS_MS};
    return cluster_config_load(&flags, cluster, &err) ? command_client_new(&options, &err) : NULL;
}

static int l_kinds(lua_State *L)
{
    struct cluster_config cluster = {0};
    struct err err;
    struct command_client *client = client_of(L, 1, &cluster);
    struct catalogue *kinds = client ? command_client_kinds(client, &err) : NULL;
    const struct resource *resource;
    command_client_free(client);
    cluster_config_clear(&cluster);
    if (!kinds) kinds = catalogue_well_known();
    lua_newtable(L);
    for (size_t i = 0; (resource = catalogue_at(kinds, i)); i++) {
        struct buf name = {0};
        resource_name(resource, &name);
        lua_pushlstring(L, buf_text(&name), name.len);
        tool_append(L);
        buf_clear(&name);
    }
    catalogue_free(kinds);
    return 1;
}

static int l_cluster_get(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct cluster_config cluster = {0};
    struct buf response = {0};
    struct err err;
    struct command_client *client = client_of(L, 2, &cluster);
    if (client && command_client_get(client, path, &response, &err))
        lua_pushlstring(L, buf_text(&response), response.len);
    else
        lua_pushnil(L);
    command_client_free(client);
    cluster_config_clear(&cluster);
    buf_clear(&response);
    return 1;
}

static void set_names(lua_State *L, const char *field, const struct kubeconfig_list *list)
{
    lua_newtable(L);
    for (size_t i = 0; i < list->count; i++) {
        lua_pushstring(L, list->items[i].name);
        tool_append(L);
    }
    lua_setfield(L, -2, field);
}

static int l_kubeconfig(lua_State *L)
{
    const struct cluster_flags flags = {.kubeconfig = luaL_optstring(L, 1, NULL)};
    struct kubeconfig files = {0};
    struct err err;
    kubeconfig_load_files(&flags, &files, &err); /* whatever could be read */
    lua_newtable(L);
    set_names(L, "contexts", &files.contexts);
    set_names(L, "clusters", &files.clusters);
    set_names(L, "users", &files.users);
    kubeconfig_clear(&files);
    return 1;
}

static int l_builtins(lua_State *L)
{
    struct builtin_paths names = {0};
    builtin_rules_list(&names);
    lua_newtable(L);
    for (size_t i = 0; i < names.count; i++) {
        lua_pushstring(L, names.items[i]);
        tool_append(L);
    }
    builtin_paths_clear(&names);
    return 1;
}

static int l_recipes(lua_State *L)
{
    lua_newtable(L);
    for (const struct embedded_file *file = recipe_files; file->path; file++) {
        lua_pushstring(L, file->path);
        tool_append(L);
    }
    return 1;
}

static void give_up(int signum)
{
    static const char nothing[] = ":none\n";
    (void)signum;
    if (write(STDOUT_FILENO, nothing, sizeof nothing - 1) >= 0) _exit(EXIT_OK);
    _exit(EXIT_USAGE);
}

/* By a signal: that ends the calls of C as well which wait for an engine. */
static int l_give_up_after(lua_State *L)
{
    lua_Integer ms = luaL_checkinteger(L, 1);
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000)}};
    signal(SIGALRM, give_up);
    setitimer(ITIMER_REAL, &timer, NULL);
    return 0;
}

void reference_tool_set(lua_State *L)
{
    static const luaL_Reg functions[] = {{"commands", l_commands},       {"kinds", l_kinds},
                                         {"kubeconfig", l_kubeconfig},   {"builtins", l_builtins},
                                         {"recipes", l_recipes},         {"give_up_after", l_give_up_after},
                                         {"cluster_get", l_cluster_get}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    tool_set_text(L, "version", KUBELUA_VERSION);
}
