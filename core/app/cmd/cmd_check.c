/* `kubelua check`: what is wrong with scripts, found without running them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/check/check.h"
#include "app/check/check_against.h"
#include "app/check/check_rights.h"
#include "app/check/command_client.h"
#include "app/cmd/cmd.h"
#include "app/options/options.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/load_host.h"
#include "kube/kinds/well_known.h"

enum { ASK_MS = 20000 };

static struct arguments {
    struct options options;
    struct script_files files;
    const char *output;
    struct flag_list against;
} given = {.output = "text"};

static const struct flag flags[] = {
    FLAG_SCRIPT_FILES(&given.options.files),
    {"output", 'o', FLAG_CHOICE, &given.output, "text|json", "text|json", "Output format (default text)"},
    {"against", 0, FLAG_LIST, &given.against, "FILE", NULL,
     "Check against a dump of a cluster (JSON or YAML): CRDs, objects, roles (repeatable)"},
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
struct check_target {
    struct cluster_config cluster;
    struct command_client *asker; /* NULL: there is no server */
    struct dump *dump;            /* NULL: there is none */
    struct catalogue *catalogue;
    bool is_whole;   /* it has all kinds that there are */
    bool has_rights; /* it knows who may do what */
};

static bool check_target_open(struct check_target *world, const struct arguments *arguments, struct err *err)
{
    const struct cluster_flags *asked = &arguments->options.cluster;
    if (arguments->against.count) {
        world->is_whole = true;
        world->dump = dump_read(arguments->against.items, arguments->against.count, err);
        world->catalogue = world->dump ? catalogue_ref(dump_catalogue(world->dump)) : NULL;
        world->has_rights = world->dump && asked->as;
    } else if (!names_a_server(asked)) {
        world->catalogue = catalogue_well_known();
    } else if (cluster_config_load(asked, &world->cluster, err)) {
        world->is_whole = true;
        world->asker = command_client_new(
            &(struct command_client_options){&world->cluster, arguments->options.request_timeout_ms, ASK_MS},
            err);
        world->catalogue = world->asker ? command_client_kinds(world->asker, err) : NULL;
        world->has_rights = true;
        if (!world->catalogue) err_wrap(err, "%s", world->cluster.server);
    }
    if (world->catalogue && world->dump && asked->as && dump_rights_empty(dump_rights(world->dump)))
        return err_set(err, ERR_INVALID,
                       "--as %s: the dump has no role bindings: kubectl get "
                       "roles,rolebindings,clusterroles,clusterrolebindings -A -o yaml",
                       asked->as);
    return world->catalogue != NULL;
}

struct check {
    const struct arguments *arguments;
    const struct check_target *world;
    struct findings findings;
    struct needed_rights rights;
    struct script **scripts; /* that loaded */
    size_t script_count;
    bool readable;
};

/* A access_check_fn. */
static bool check_access(void *ctx, struct access_check *questions, size_t count, struct err *err)
{
    const struct check *check = ctx;
    const struct cluster_flags *asked = &check->arguments->options.cluster;
    if (check->world->asker) return command_client_access(check->world->asker, questions, count, err);
    const struct dump_user user = {asked->as, asked->as_groups, asked->as_group_count};
    dump_rights_check(dump_rights(check->world->dump), &user, questions, count);
    return true;
}

static void check_target_close(struct check_target *world)
{
    command_client_free(world->asker);
    dump_free(world->dump);
    catalogue_free(world->catalogue);
    cluster_config_clear(&world->cluster);
}

/* --- the check */

static void check_script(struct check *check, const struct script_host *host, size_t number)
{
    const char *path = check->arguments->files.paths[number];
    struct findings *findings = &check->findings;
    struct err err;
    findings->script = number;
    struct script *script = script_load(host, path, check->arguments->files.names[number], &err);
    if (!script && err.code == ERR_IO) {
        fprintf(stderr, "kubelua check: %s\n", err.text);
        check->readable = false;
    } else if (!script) {
        diagnostics_add_error(findings, path, err.text);
    } else {
        check_kinds(script, path, check->world->catalogue, check->world->is_whole, findings);
        check_dropped(script, path, findings);
        check_dead(script, path, check->world->catalogue, findings);
        check_rules(script, path, check->world->catalogue, findings);
        check_declared(script, findings);
        if (check->world->has_rights)
            needed_rights_add(&check->rights, number, script, path, check->world->catalogue);
        check->scripts[check->script_count++] = script;
    }
}

/* Of a script that does not load nobody knows what its rules would take. */
static void check_params(struct check *check)
{
    const struct arguments *arguments = check->arguments;
    struct err err;
    if (check->script_count < arguments->files.count) return;
    if (rule_params_check(arguments->options.rule_params, check->scripts, check->script_count, &err)) return;
    fprintf(stderr, "kubelua check: %s\n", err.text);
    check->readable = false;
}

/* A script that does not load hides nothing of the others. */
static void check_all(struct check *check)
{
    const struct options *options = &check->arguments->options;
    struct load_host dry;
    const char *here = check->world->cluster.namespace_;
    const char *ns = options->all_namespaces ? NULL : options->cluster.namespace_;
    struct engine_settings settings = {.lease = leader_flags_lease(&options->leader, here ? here : "default"),
                                       .elects = options->leader.elect,
                                       .default_namespace = ns ? ns : ""};
    options_give_scripts(options, &settings);
    load_host_open(&dry, &settings);
    check->scripts = xcalloc(check->arguments->files.count + 1, sizeof(struct script *));
    for (size_t i = 0; i < check->arguments->files.count; i++) check_script(check, &dry.host, i);
    check_params(check);
    for (size_t i = 0; i < check->script_count; i++) script_free(check->scripts[i]);
    free(check->scripts);
    load_host_close(&dry);
}

/* Checks the permissions of the caller at the server, whoever the scripts run as: --as asks for another
 * user. */
static void check_rights(struct check *check)
{
    size_t before = check->findings.errors;
    struct err err;
    if (!check->world->has_rights) return;
    if (!needed_rights_check(&check->rights, check_access, check, &check->findings, &err)) {
        fprintf(stderr, "kubelua check: cannot check permissions: %s: %s\n", check->world->cluster.server,
                err.text);
        check->readable = false;
    } else if (check->findings.errors > before) {
        fputs("Use kubelua rbac to generate the roles that scripts need, and --as to check another user.\n",
              stderr);
    }
}

static void print_counts(const struct script_files *files, const struct findings *findings)
{
    fprintf(stderr, "%zu script%s, %zu error%s, %zu warning%s\n", files->count, files->count == 1 ? "" : "s",
            findings->errors, findings->errors == 1 ? "" : "s", findings->warnings,
            findings->warnings == 1 ? "" : "s");
}

static int check(const struct arguments *arguments, const struct check_target *world)
{
    struct check check = {.arguments = arguments, .world = world, .readable = true};
    struct findings *findings = &check.findings;
    struct buf out = {0};
    check_all(&check);
    check_rights(&check);
    diagnostics_sort(findings);
    diagnostics_print(findings, strcmp(arguments->output, "json") == 0, &out);
    if (out.len) fwrite(out.data, 1, out.len, stdout);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    print_counts(&arguments->files, findings);
    int code = !check.readable || !written ? EXIT_USAGE : findings->errors ? EXIT_FINDINGS : EXIT_OK;
    buf_clear(&out);
    findings_clear(findings);
    needed_rights_clear(&check.rights);
    return code;
}

static int run(struct command_line *line)
{
    struct check_target world = {0};
    struct err err;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    bool ok = options_read_params(&given.options, &err) &&
              options_complete(&given.options, true, &given.files, &err) &&
              check_target_open(&world, &given, &err);
    int code = ok ? check(&given, &world) : command_fail(line, err.text);
    check_target_close(&world);
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
