/* `kubelua check`: what is wrong with scripts, found without running them. The checks are Lua
 * (lua/tool/check/). */
#include <signal.h>

#include "app/check/check_against.h"
#include "app/check/check_target.h"
#include "app/check/script_facts.h"
#include "app/cmd/cmd.h"
#include "base/log.h"
#include "kube/kinds/well_known.h"
#include "tool/tool.h"

enum { DISCOVERY_MS = 20000 };

static struct arguments {
    struct options options;
    struct script_files files;
    const char *output;
    struct flag_list against;
    bool explain;
} given = {.output = "text"};

static const struct flag flags[] = {
    FLAG_SCRIPT_FILES(&given.options.files),
    FLAG_RECURSIVE(&given.options.recursive),
    {"output", 'o', FLAG_CHOICE, &given.output, "text|json", "text|json", "Output format (default text)"},
    {"against", 0, FLAG_LIST, &given.against, "FILE|DIR", NULL,
     "Check against a dump of a cluster (JSON or YAML): CRDs, objects, roles (repeatable)"},
    {"explain", 0, FLAG_BOOL, &given.explain, NULL, NULL,
     "Describe the settings of the scripts and the parameters of their rules, and exit"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag_group *groups(void)
{
    static struct flag_group all[5];
    struct options *options = &given.options;
    all[0] = (struct flag_group){"Script flags (as for kubelua run):", script_flags(options)};
    all[1].flags = param_flags(options);
    all[2] = (struct flag_group){"Connection:", connection_flags(options)};
    all[3] =
        (struct flag_group){"Leader election flags (as for kubelua run):", leader_flags(&options->leader)};
    return all;
}

/* --- whom to ask */

/* Kinds and permissions to check against, as a server or a dump has them; without either, those of Kubernetes
 * itself. */
struct opened_target {
    struct check_target target;
    struct cluster_config cluster; /* of the server */
    struct dump *dump;             /* NULL: there is none */
    struct catalogue *catalogue;
};

static bool open_dump(struct opened_target *opened, lua_State *L, struct err *err)
{
    const char *as = given.options.cluster.as;
    opened->dump = dump_read(L, given.against.items, given.against.count, err);
    if (!opened->dump) return false;
    lua_setfield(L, LUA_REGISTRYINDEX, "roles");
    opened->catalogue = catalogue_ref(dump_catalogue(opened->dump));
    if (!as || dump_has_binding(opened->dump)) return true;
    return err_set(err, ERR_INVALID,
                   "--as %s: the dump has no role bindings: kubectl get "
                   "roles,rolebindings,clusterroles,clusterrolebindings -A -o yaml",
                   as);
}

static bool open_server(struct opened_target *opened, struct err *err)
{
    const struct command_client_options options = {&opened->cluster, given.options.request_timeout_ms,
                                                   DISCOVERY_MS};
    if (!cluster_config_load(&given.options.cluster, &opened->cluster, err)) return false;
    opened->target.client = command_client_new(&options, err);
    opened->catalogue = opened->target.client ? command_client_kinds(opened->target.client, err) : NULL;
    return opened->catalogue || err_wrap(err, "%s", opened->cluster.server);
}

static bool open_target(struct opened_target *opened, lua_State *L, struct err *err)
{
    bool has_server = !given.explain && names_a_server(&given.options.cluster);
    opened->target.is_whole = given.against.count || has_server;
    if (given.against.count ? !open_dump(opened, L, err) : has_server && !open_server(opened, err))
        return false;
    if (!opened->catalogue) opened->catalogue = catalogue_well_known();
    opened->target.catalogue = opened->catalogue;
    return true;
}

static void close_target(struct opened_target *opened)
{
    command_client_free(opened->target.client);
    dump_free(opened->dump);
    catalogue_free(opened->catalogue);
    cluster_config_clear(&opened->cluster);
}

/* --- the check */

/* Sets whose rights are looked for in the roles of the dump. */
static void set_user(lua_State *L, const struct cluster_flags *cluster)
{
    lua_newtable(L);
    tool_set_text(L, "name", cluster->as);
    lua_newtable(L);
    for (size_t i = 0; i < cluster->as_group_count; i++) {
        lua_pushstring(L, cluster->as_groups[i]);
        tool_append(L);
    }
    lua_setfield(L, -2, "groups");
    lua_setfield(L, -2, "user");
}

static bool check(lua_State *L, const struct opened_target *opened, struct err *err)
{
    const struct cluster_flags *cluster = &given.options.cluster;
    check_target_push(L, &opened->target);
    tool_set_text(L, "server", opened->cluster.server);
    lua_getfield(L, LUA_REGISTRYINDEX, "roles");
    lua_setfield(L, -2, "roles");
    if (opened->dump && cluster->as) set_user(L, cluster);
    lua_newtable(L);
    script_facts_set(L, &given.options, &given.files,
                     opened->cluster.namespace_ ? opened->cluster.namespace_ : "default");
    tool_set_text(L, "output", given.output);
    tool_set_bool(L, "explain", given.explain);
    return tool_call(L, "tool.check", err);
}

static int run(struct command_line *line)
{
    struct opened_target opened = {0};
    struct err err;
    lua_State *L = tool_open();
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    bool ok = options_read_params(&given.options, &err) &&
              options_complete(&given.options, true, &given.files, &err) && open_target(&opened, L, &err) &&
              check(L, &opened, &err);
    int code = ok ? (int)lua_tointeger(L, -1) : command_fail(line, err.text);
    lua_close(L);
    close_target(&opened);
    script_files_clear(&given.files);
    options_clear(&given.options);
    return code;
}

const struct command cmd_check = {
    .name = "check",
    .summary = "Validate scripts without running them",
    .no_arguments = "; use -f for scripts",
    .flags = flags,
    .groups = groups,
    .run = run,
};
