/* `kubelua audit`: asks the rules of scripts about objects, and reports what they find. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/audit/audit_engine.h"
#include "app/audit/audit_explain.h"
#include "app/audit/audit_run.h"
#include "app/cmd/cmd.h"
#include "app/options/options.h"
#include "audit/found/baseline.h"
#include "audit/report/report.h"
#include "base/log.h"
#include "base/mem.h"

enum { FIELD_MANAGER_MAX = 128 }; /* as servers have it */

#define SEVERITY_NAMES "info|low|medium|high|critical"

static struct audit_request given;

static void request_clear(struct audit_request *request)
{
    script_files_clear(&request->files);
    options_clear(&request->options);
    selector_free(request->labels);
}

static const struct flag *audit_flags(struct audit_request *request)
{
    static struct flag table[16];
    struct options *options = &request->options;
    request->output = "table";
    request->fail_on = "low";
    const struct flag flags[] = {
        FLAG_SCRIPT_FILES(&options->files),
        {"from", 0, FLAG_LIST, &request->from, "FILE|DIR|-", NULL,
         "Audit files instead of a cluster: manifests or output of kubectl get, JSON or YAML; - is stdin "
         "(repeatable)"},
        {"selector", 'l', FLAG_STRING, &request->selector, "SELECTOR", NULL,
         "Audit only objects whose labels match, such as \"app=web,tier!=db\"; objects that rules use are "
         "not filtered"},
        {"recursive", 'R', FLAG_BOOL, &options->recursive, NULL, NULL,
         "Read the directories below those of -f and --from, too"},
        {"exclude", 0, FLAG_LIST, &request->exclude, "GLOB", NULL,
         "Skip files and subdirectories whose name or path matches GLOB (repeatable)"},
        flag_max_object_size(options),
        {"max-input-size", 0, FLAG_SIZE, &request->max_input_size, "SIZE", NULL,
         "Stop after this size of unpacked input (default 0: unlimited)"},
        {"output", 'o', FLAG_CHOICE, &request->output, REPORT_FORMATS, REPORT_FORMATS,
         "Output format (default table)"},
        {"fail-on", 0, FLAG_CHOICE, &request->fail_on, SEVERITY_NAMES, SEVERITY_NAMES,
         "Exit with 1 for failures of this severity or higher (default low)"},
        {"baseline", 0, FLAG_STRING, &request->baseline, "FILE", NULL,
         "Hide findings of an earlier report that was written with -o json"},
        {"explain", 0, FLAG_STRING, &request->explain, "RULE", NULL, "Describe a rule and exit"},
        {"list-rules", 0, FLAG_BOOL, &request->list_rules, NULL, NULL,
         "List the rules and exit; supports -o json"},
        {"fix", 0, FLAG_BOOL, &request->fix, NULL, NULL,
         "Print fixes for the failures as shell commands; with -o json or yaml, add them to the report"},
        {"allow-empty", 0, FLAG_BOOL, &request->allow_empty, NULL, NULL,
         "Succeed when no object matches a rule or --selector"},
        flag_sync_timeout(
            options, "Time to wait for the objects that rules need, when auditing a cluster (default 60s)"),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static const struct flag *apply_flags(struct audit_request *request)
{
    static struct flag table[6];
    struct options *options = &request->options;
    const struct flag flags[] = {
        {"apply", 0, FLAG_BOOL, &request->apply, NULL, NULL,
         "Apply the fixes that --fix would print, and report each one"},
        flag_dry_run(
            options,
            "client: only print what would be written; server: send it without persisting it (default none)"),
        flag_field_manager(options, "Name of the field manager of these writes (default kubelua)"),
        flag_kube_api_qps(options),
        flag_kube_api_burst(options),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static const struct flag_group *groups(void)
{
    static struct flag_group all[8];
    struct options *options = &given.options;
    all[0].flags = audit_flags(&given);
    all[1].flags = param_flags(options);
    all[2].flags = ignore_flags(options);
    all[3] = (struct flag_group){"Cluster flags:", apply_flags(&given)};
    all[4] = (struct flag_group){"Engine flags:", audit_engine_flags(&given)};
    all[5] = (struct flag_group){"Script flags (as for kubelua run):", script_flags(options)};
    all[6] = (struct flag_group){"Connection:", connection_flags(options)};
    return all;
}

/* --- the command */

static bool check_apply(const struct audit_request *request, struct err *err)
{
    const char *manager = request->options.field_manager;
    const char *needs = strcmp(request->options.dry_run, "none") != 0 ? "--dry-run"
                        : manager                                     ? "--field-manager"
                                                                      : NULL;
    if (!request->apply && needs) return err_set(err, ERR_INVALID, "%s requires --apply", needs);
    if (!request->apply) return true;
    if (request->from.count || request->engine.enabled)
        return err_set(
            err, ERR_INVALID,
            "--apply requires a cluster and cannot be combined with %s; use --fix to print the fixes",
            request->from.count ? "--from" : "--engine");
    if (manager && (!*manager || strlen(manager) > FIELD_MANAGER_MAX))
        return err_set(err, ERR_INVALID, "--field-manager must have 1 to %d bytes", FIELD_MANAGER_MAX);
    return true;
}

static bool check_fix(const struct audit_request *request, struct err *err)
{
    const char *output = request->output;
    if (!check_apply(request, err)) return false;
    if (request->engine.show_secrets && !request->engine.enabled)
        return err_set(err, ERR_INVALID, "--show-secrets requires --engine; other audits hide nothing");
    if (request->fix && request->engine.enabled)
        return err_set(err, ERR_INVALID, "--fix cannot be combined with --engine");
    if (!(request->fix || request->apply) || audit_is_table(request) || strcmp(output, "json") == 0 ||
        strcmp(output, "yaml") == 0)
        return true;
    return err_set(err, ERR_INVALID, "--fix does not support -o %s; use -o json, -o yaml or no -o", output);
}

/* The flag that names a cluster, which an engine has chosen already; NULL: there is none. What stands in the
 * environment is for other commands too. */
static const char *names_cluster(const struct cluster_flags *flags)
{
    const struct {
        const char *flag, *value, *variable;
    } all[] = {{"--server", flags->server, "KUBELUA_SERVER"},
               {"--context", flags->context, "KUBELUA_CONTEXT"},
               {"--cluster", flags->cluster, "KUBELUA_CLUSTER"},
               {"--kubeconfig", flags->kubeconfig, "KUBELUA_KUBECONFIG"}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].value && all[i].value != getenv(all[i].variable)) return all[i].flag;
    return NULL;
}

static bool reads_stdin(const struct flag_list *files)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i], "-") == 0) return true;
    return false;
}

static bool check_arguments(const struct audit_request *request, struct err *err)
{
    if (reads_stdin(&request->options.files) && reads_stdin(&request->from))
        return err_set(err, ERR_INVALID,
                       "-f - and --from - are mutually exclusive: both read standard input");
    bool of_engine = request->engine.enabled;
    if (of_engine && request->from.count)
        return err_set(err, ERR_INVALID, "--engine and --from are mutually exclusive");
    if (!check_fix(request, err)) return false;
    const char *other = of_engine ? names_cluster(&request->options.cluster) : NULL;
    if (other)
        return err_set(err, ERR_INVALID,
                       "%s cannot be combined with --engine, which audits the cluster of the engine", other);
    return true;
}

static bool read_selector(struct audit_request *request, struct err *err)
{
    if (!request->selector) return true;
    request->labels = selector_parse(str_of(request->selector), err);
    return request->labels || err_wrap(err, "--selector");
}

static bool complete(struct audit_request *request, struct err *err)
{
    if (!request->engine.enabled && !request->options.files.count)
        return err_set(err, ERR_INVALID,
                       "no rules given; use -f FILE, -f DIR, or -f builtin: for those that ship");
    return check_arguments(request, err) && read_selector(request, err) &&
           options_read_params(&request->options, err) && options_check_ignore(&request->options, err) &&
           options_complete(&request->options, !request->engine.enabled, &request->files, err);
}

static void print_old(const char *path, const struct baseline *baseline)
{
    size_t old = baseline ? baseline_old_count(baseline) : 0;
    if (old)
        fprintf(stderr,
                "kubelua audit: %s: %zu findings have no fingerprint and are matched by path; recreate the "
                "file with -o json\n",
                path, old);
}

static int run_request(struct audit_request *request, struct err *err)
{
    struct baseline *baseline = NULL;
    struct audit_fixes fixes = {0};
    int code = EXIT_USAGE;
    if (request->explain || request->list_rules) return audit_explain(request, err) ? EXIT_OK : EXIT_USAGE;
    if (request->baseline) baseline = baseline_read(request->baseline, err);
    print_old(request->baseline, baseline);
    request->known = baseline;
    request->fix = request->fix || request->apply;
    request->fixes = request->fix ? &fixes : NULL;
    if (baseline || !request->baseline) code = audit_run(request);
    request->known = NULL;
    request->fixes = NULL;
    audit_fixes_clear(&fixes);
    baseline_free(baseline);
    return code;
}

static int run(struct command_line *line)
{
    struct err err = {0};
    int code = EXIT_USAGE;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (complete(&given, &err)) code = run_request(&given, &err);
    if (err.text[0]) command_fail(line, err.text);
    request_clear(&given);
    return code;
}

const struct command cmd_audit = {
    .name = "audit",
    .summary = "Evaluate rules and report findings",
    .no_arguments = "; use -f for scripts and --from for objects",
    .groups = groups,
    .run = run,
};
