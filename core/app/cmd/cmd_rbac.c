/* `kubelua rbac`: the least rights that scripts need, as YAML. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/check/command_client.h"
#include "app/check/rbac_rules.h"
#include "app/cmd/cmd.h"
#include "app/options/options.h"
#include "audit/policy/policy_document.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/kinds/well_known.h"

/* A server that nobody named is asked for a moment only. */
enum { ASK_MS = 3000, ASK_NAMED_MS = 20000 };

static struct options options;
static const char *role_name = "kubelua";
static bool with_fixes;

static const struct flag flags[] = {
    FLAG_SCRIPT_FILES(&options.files),
    {"name", 0, FLAG_STRING, &role_name, "NAME", NULL, "Name of the generated roles (default kubelua)"},
    {"audit-apply", 0, FLAG_BOOL, &with_fixes, NULL, NULL,
     "Add the rights that kubelua audit --apply needs: patch on kinds whose rules have a fix"},
    {"report", 0, FLAG_MODE, &options.report, REPORT_TARGETS, REPORT_TARGETS,
     "Add the rights that kubelua run --report needs to write reports"},
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

/* --- asking a server */

/* The server's catalogue; without a server that somebody named, that of the well-known kinds. `*here` is the
 * namespace of the connection, for free(). */
static struct catalogue *find_catalogue(struct rbac_scripts *plan, char **here, struct err *err)
{
    bool is_named = names_a_server(&options.cluster);
    struct cluster_config cluster = {0};
    struct catalogue *catalogue = NULL;
    bool is_configured = cluster_config_load(&options.cluster, &cluster, err);
    *here = xstrdup(is_configured ? cluster.namespace_ : "default");
    if (is_configured)
        catalogue = refresh_kinds(&(struct command_client_options){&cluster, options.request_timeout_ms,
                                                                   is_named ? ASK_NAMED_MS : ASK_MS},
                                  err);
    plan->is_server = catalogue != NULL;
    if (!catalogue && is_configured) err_wrap(err, "%s", cluster.server);
    cluster_config_clear(&cluster);
    if (catalogue || is_named) return catalogue;
    fprintf(stderr, "kubelua rbac: no server, only built-in kinds are known: %s\n", err->text);
    return catalogue_well_known();
}

/* --- the command */

/* Those of the cluster too: a rule may be about what has no namespace. */
static void add_reports(const struct rbac_scripts *plan, struct rbac_rules *rules)
{
    enum { VERBS = RBAC_LIST | RBAC_CREATE | RBAC_PATCH | RBAC_DELETE };
    const struct policy_api *api = policy_api_of(plan->options->report);
    if (!api) return;
    rbac_rules_add(rules, plan->default_namespace, api->group, api->plural, VERBS);
    rbac_rules_add(rules, "", api->group, api->cluster_plural, VERBS);
}

static int print_rules(const struct rbac_scripts *plan)
{
    struct rbac_rules *rules = rbac_rules_new();
    struct buf out = {0};
    bool ok = rbac_scripts_add_rules(plan, rules);
    add_reports(plan, rules);
    if (ok) rbac_rules_print(rules, role_name, &out);
    if (ok && !out.len) buf_puts(&out, "# These scripts need no permissions.\n");
    fwrite(out.data ? out.data : "", 1, out.len, stdout);
    buf_clear(&out);
    rbac_rules_free(rules);
    if (fflush(stdout) == 0 && !ferror(stdout)) return ok ? EXIT_OK : EXIT_USAGE;
    fputs("kubelua rbac: stdout: cannot be written\n", stderr);
    return EXIT_INCOMPLETE;
}

static int run(struct command_line *line)
{
    struct script_files files = {0};
    struct rbac_scripts plan = {.files = &files, .options = &options, .fixes = with_fixes};
    struct catalogue *catalogue = NULL;
    char *here = NULL;
    struct err err;
    int exit_code;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (options_complete(&options, true, &files, &err)) catalogue = find_catalogue(&plan, &here, &err);
    if (catalogue) {
        plan.catalogue = catalogue;
        plan.default_namespace =
            !options.all_namespaces && options.cluster.namespace_ ? options.cluster.namespace_ : "";
        plan.lease = leader_flags_lease(&options.leader, here);
        plan.elects = options.leader.elect;
        exit_code = print_rules(&plan);
    } else {
        exit_code = command_fail(line, err.text);
    }
    free(here);
    catalogue_free(catalogue);
    script_files_clear(&files);
    return exit_code;
}

const struct command cmd_rbac = {
    .name = "rbac",
    .summary = "Generate the RBAC rules that scripts need",
    .no_arguments = "; use -f for scripts",
    .flags = flags,
    .groups = groups,
    .run = run,
};
