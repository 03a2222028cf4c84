/* `kubelua rbac`: the minimal permissions that scripts need, as YAML. What they are is found in Lua
 * (lua/tool/check/). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/check/check_against.h"
#include "app/check/check_target.h"
#include "app/check/script_facts.h"
#include "app/cmd/cmd.h"
#include "audit/policy/policy_document.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/kinds/well_known.h"
#include "tool/tool.h"

/* A server that nobody named is asked for a moment only. */
enum { DISCOVERY_MS = 3000, DISCOVERY_NAMED_MS = 20000 };

static struct options options;
static struct flag_list against, published;
static const char *role_name = "kubelua", *form = "yaml", *whose = "run";
static bool with_fixes, namespaced;

static const struct flag flags[] = {
    FLAG_SCRIPT_FILES(&options.files),
    FLAG_RECURSIVE(&options.recursive),
    {"output", 'o', FLAG_CHOICE, &form, "yaml|helm|kustomize", "yaml|helm|kustomize",
     "Output format: roles, values of the chart, or roles and bindings for a kustomization (default yaml)"},
    {"name", 0, FLAG_STRING, &role_name, "NAME", NULL, "Name of the generated roles (default kubelua)"},
    {"for", 0, FLAG_CHOICE, &whose, "run|publish|worker", "run|publish|worker",
     "Whose permissions: those of kubelua run; of kubelua publish, for the kinds of the scripts' informers; "
     "or of kubelua run --from, whose informers ask no server (default run)"},
    {"kind", 0, FLAG_LIST, &published, "KIND", NULL,
     "With --for publish: one more kind that is published (repeatable)"},
    {"against", 0, FLAG_LIST, &against, "FILE|DIR", NULL,
     "Resolve kinds by a dump of a cluster (JSON or YAML): CRDs, objects (repeatable)"},
    {"namespaced", 0, FLAG_BOOL, &namespaced, NULL, NULL,
     "For namespaces by labels: rights in each of them, by a role of its own, rather than in all namespaces"},
    {"audit-apply", 0, FLAG_BOOL, &with_fixes, NULL, NULL,
     "Add the permissions that kubelua audit --apply needs: patch on kinds whose rules have a fix"},
    {"report", 0, FLAG_MODE, &options.report, REPORT_TARGETS, REPORT_TARGETS,
     "Add the permissions that kubelua run --report needs to write reports"},
    {"metrics-auth", 0, FLAG_CHOICE, &options.metrics_auth, "none|token", "none|token",
     "Add the permissions that kubelua run --metrics-auth=token needs to review tokens (default none)"},
    {"cache-dir", 0, FLAG_STRING, &options.cache_dir, "DIR", NULL,
     "Add the permission that kubelua run --cache-dir needs to identify the cluster"},
    {"clusters-from", 0, FLAG_STRING, &options.clusters_from, "NAMESPACE[/SELECTOR]", NULL,
     "Add the permission that kubelua run --clusters-from needs to follow the Secrets"},
    {"shard", 0, FLAG_MODE, &options.shard, "NAME", NULL,
     "Add the permissions that kubelua run --shard needs to share objects with other replicas"},
    {NULL, 0, FLAG_STRING, NULL, NULL, NULL, NULL},
};

static const struct flag_group *groups(void)
{
    static struct flag_group all[4];
    all[0].flags = leader_flags(&options.leader);
    all[1] = (struct flag_group){"Script flags (as for kubelua run):", script_flags(&options)};
    all[2] = (struct flag_group){"Connection:", connection_flags(&options)};
    return all;
}

/* --- whom to ask */

/* Returns the kinds of the server; if nobody named one and none responds, the built-in kinds. */
static struct catalogue *discover(struct check_target *target, const struct cluster_config *cluster,
                                  struct err *err)
{
    bool is_named = names_a_server(&options.cluster);
    struct catalogue *catalogue = NULL;
    if (cluster->server)
        catalogue =
            refresh_kinds(&(struct command_client_options){cluster, options.request_timeout_ms,
                                                           is_named ? DISCOVERY_NAMED_MS : DISCOVERY_MS},
                          err);
    target->is_whole = catalogue != NULL;
    if (!catalogue && cluster->server) err_wrap(err, "%s", cluster->server);
    if (catalogue || is_named) return catalogue;
    fprintf(stderr, "kubelua rbac: no server, only built-in kinds are known: %s\n", err->text);
    return catalogue_well_known();
}

static struct catalogue *read_dump(lua_State *L, struct check_target *target, struct err *err)
{
    struct dump *dump = dump_read(L, against.items, against.count, err);
    if (!dump) return NULL;
    struct catalogue *catalogue = catalogue_ref(dump_catalogue(dump));
    lua_pop(L, 1);
    dump_free(dump);
    target->is_whole = true;
    return catalogue;
}

/* Sets `*here` to the namespace of the connection, for free(). */
static struct catalogue *find_catalogue(lua_State *L, struct check_target *target, char **here,
                                        struct err *err)
{
    struct cluster_config cluster = {0};
    bool is_configured = cluster_config_load(&options.cluster, &cluster, err);
    *here = xstrdup(is_configured ? cluster.namespace_ : "default");
    struct catalogue *catalogue = against.count ? read_dump(L, target, err) : discover(target, &cluster, err);
    cluster_config_clear(&cluster);
    return catalogue;
}

/* --- the command */

/* Sets what reports are written as, if they are. */
static void set_reports(lua_State *L)
{
    const struct policy_api *api = policy_api_of(options.report);
    if (!api) return;
    lua_createtable(L, 0, 3);
    tool_set_text(L, "group", api->group);
    tool_set_text(L, "plural", api->plural);
    tool_set_text(L, "cluster_plural", api->cluster_plural);
    lua_setfield(L, -2, "reports");
}

static void set_shard(lua_State *L, const char *here)
{
    if (!options.shard) return;
    const struct lease_config lease = leader_flags_lease(&options.leader, here);
    lua_createtable(L, 0, 2);
    tool_set_text(L, "group", options.shard);
    tool_set_text(L, "namespace", lease.namespace_);
    lua_setfield(L, -2, "shard");
}

static bool print_rules(lua_State *L, const struct check_target *target, const struct script_files *files,
                        const char *here, struct err *err)
{
    check_target_push(L, target);
    lua_newtable(L);
    script_facts_set(L, &options, files, here);
    tool_set_text(L, "name", role_name);
    tool_set_text(L, "form", form);
    tool_set_bool(L, "with_fixes", with_fixes);
    tool_set_bool(L, "namespaced", namespaced);
    tool_set_bool(L, "reviews_tokens", options.metrics_auth && strcmp(options.metrics_auth, "token") == 0);
    tool_set_text(L, "clusters_from", options.clusters_from ? options.clusters_from : "");
    tool_set_bool(L, "identifies_cluster", options.cache_dir != NULL);
    tool_set_text(L, "whose", whose);
    tool_set_text(L, "default_namespace",
                  !options.all_namespaces && options.cluster.namespace_ ? options.cluster.namespace_ : "");
    tool_push_list(L, &published);
    lua_setfield(L, -2, "published");
    set_reports(L);
    set_shard(L, here);
    return tool_call(L, "tool.check.rbac", err);
}

static bool check(struct err *err)
{
    return !published.count || strcmp(whose, "publish") == 0 ||
           err_set(err, ERR_INVALID, "--kind requires --for publish");
}

static int run(struct command_line *line)
{
    struct script_files files = {0};
    struct check_target target = {0};
    struct catalogue *catalogue = NULL;
    char *here = NULL;
    struct err err;
    lua_State *L = tool_open();
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (check(&err) && options_complete(&options, !published.count, &files, &err))
        catalogue = find_catalogue(L, &target, &here, &err);
    target.catalogue = catalogue;
    bool ok = catalogue && print_rules(L, &target, &files, here, &err);
    int code = ok ? (int)lua_tointeger(L, -1) : command_fail(line, err.text);
    lua_close(L);
    free(here);
    catalogue_free(catalogue);
    script_files_clear(&files);
    return code;
}

const struct command cmd_rbac = {
    .name = "rbac",
    .summary = "Generate the RBAC rules that scripts need",
    .no_arguments = "; use -f for scripts",
    .flags = flags,
    .groups = groups,
    .run = run,
};
