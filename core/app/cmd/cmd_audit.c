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

static void request_clear(struct audit_request *request)
{
    script_files_clear(&request->files);
    flag_list_clear(&request->from);
    flag_list_clear(&request->exclude);
    options_clear(&request->options);
    selector_free(request->labels);
}

static const struct flag *audit_flags(struct audit_request *request)
{
    static struct flag table[15];
    struct options *options = &request->options;
    request->output = "table";
    request->fail_on = "low";
    const struct flag flags[] = {
        FLAG_SCRIPT_FILES(&options->files),
        {"from", 0, FLAG_LIST, &request->from, "FILE|DIR|-", NULL,
         "files instead of a cluster: JSON or YAML, as kubectl get prints it, or manifests; - is stdin "
         "(repeatable)"},
        {"selector", 'l', FLAG_STRING, &request->selector, "SELECTOR", NULL,
         "look only at objects whose labels match, as \"app=web,tier!=db\"; what rules use is not filtered"},
        {"recursive", 'R', FLAG_BOOL, &request->recursive, NULL, NULL, "of a folder also those in it"},
        {"exclude", 0, FLAG_LIST, &request->exclude, "GLOB", NULL,
         "of a folder leave out files and folders of that name, or path below it (repeatable)"},
        flag_max_object_size(options),
        {"output", 'o', FLAG_CHOICE, &request->output, REPORT_FORMATS, REPORT_FORMATS,
         "form of the report (default table)"},
        {"fail-on", 0, FLAG_CHOICE, &request->fail_on, SEVERITY_NAMES, SEVERITY_NAMES,
         "end with 1 for failures of this severity and above (default low)"},
        {"baseline", 0, FLAG_STRING, &request->baseline, "FILE", NULL,
         "hide the findings of an earlier report, made by -o json"},
        {"explain", 0, FLAG_STRING, &request->explain, "RULE", NULL,
         "print what the rule is about, and audit nothing"},
        {"list-rules", 0, FLAG_BOOL, &request->list_rules, NULL, NULL,
         "print which rules there are, and audit nothing; with -o json as JSON"},
        {"fix", 0, FLAG_BOOL, &request->fix, NULL, NULL,
         "print what rules would do about their failures, as commands; with -o json or yaml in the report"},
        {"allow-empty", 0, FLAG_BOOL, &request->allow_empty, NULL, NULL,
         "it is no error that no object is of a kind that a rule looks at, or matches --selector"},
        flag_sync_timeout(options, "of a cluster: time for all that rules look at to come (default 60s)"),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static const struct flag *apply_flags(struct audit_request *request)
{
    static struct flag table[6];
    struct options *options = &request->options;
    const struct flag flags[] = {
        {"apply", 0, FLAG_BOOL, &request->apply, NULL, NULL,
         "write what --fix would print, and tell of each fix"},
        flag_dry_run(
            options,
            "client only tells what would be written, server has it checked but not kept (default none)"),
        flag_field_manager(options, "whose the fields are that are written (default kubelua)"),
        flag_kube_api_qps(options),
        flag_kube_api_burst(options),
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static void help(void)
{
    struct audit_request request = {0};
    puts(
        "Ask the rules of scripts (k8s.rule) about objects, and report what they find: of a cluster, of\n"
        "files, or of what a running engine has in its caches.\n\n"
        "Usage:\n"
        "  kubelua audit -f FILE|DIR ... [--from FILE ...] [flags]\n"
        "  kubelua audit --engine [-f FILE|DIR ...] [flags]\n"
        "  kubelua audit -f FILE|DIR ... --explain RULE\n"
        "  kubelua audit -f FILE|DIR ... --list-rules\n\n"
        "The exit code is 0 when no rule failed; 1 for failures of the severity of --fail-on and above; 2 "
        "when\n"
        "something could not be read, or no object was looked at; 3 when a rule raised an\n"
        "error or went over a limit, or something could not be had of the cluster or the engine, so that it\n"
        "is not known what there would have been to say, or when a fix could not be written (--apply).\n\n"
        "Examples:\n"
        "  kubelua audit -f scripts/rules --context prod -n shop\n"
        "  kubelua audit -f scripts/rules -l 'team=web,env!=test'\n"
        "  kubectl get pods -A -o json > pods.json && kubelua audit -f scripts/rules --from pods.json\n"
        "  kubelua audit -f scripts/rules --from manifests.yaml -o sarif --fail-on high > audit.sarif\n"
        "  kubelua audit -f scripts/rules --engine\n"
        "  kubelua audit -f scripts/rules -o json > known.json\n"
        "  kubelua audit -f scripts/rules --baseline known.json\n"
        "  kubelua audit -f scripts/rules --fix > fixes.sh\n"
        "  kubelua audit -f scripts/rules -n shop --apply --dry-run=server\n\n"
        "Flags:");
    flags_print(audit_flags(&request));
    flags_print(param_flags(&request.options));
    puts("\nOf a cluster:");
    flags_print(apply_flags(&request));
    puts("\nOf a running engine:");
    flags_print(audit_engine_flags(&request));
    puts("\nScripts, as for kubelua run:");
    flags_print(script_flags(&request.options));
    puts("\nConnection:");
    flags_print(connection_flags(&request.options));
    request_clear(&request);
}

/* --- the command */

static bool check_apply(const struct audit_request *request, struct err *err)
{
    const char *manager = request->options.field_manager;
    const char *needs = strcmp(request->options.dry_run, "none") != 0 ? "--dry-run"
                        : manager                                     ? "--field-manager"
                                                                      : NULL;
    if (!request->apply && needs)
        return err_set(err, ERR_INVALID, "%s is for --apply, which is not given: an audit writes nothing",
                       needs);
    if (!request->apply) return true;
    if (request->from.count || request->engine.asked)
        return err_set(err, ERR_INVALID,
                       "--apply is for a cluster: %s has none to write to; --fix prints what could be done",
                       request->from.count ? "--from" : "--engine");
    if (manager && (!*manager || strlen(manager) > FIELD_MANAGER_MAX))
        return err_set(err, ERR_INVALID, "--field-manager: it takes 1 to %d bytes", FIELD_MANAGER_MAX);
    return true;
}

static bool check_fix(const struct audit_request *request, struct err *err)
{
    const char *output = request->output;
    if (!check_apply(request, err)) return false;
    if (request->fix && request->engine.asked)
        return err_set(err, ERR_INVALID, "--fix is for files and clusters: --engine has no fixes");
    if (!(request->fix || request->apply) || audit_is_table(request) || strcmp(output, "json") == 0 ||
        strcmp(output, "yaml") == 0)
        return true;
    return err_set(err, ERR_INVALID, "-o %s has no fixes; --fix goes with -o json, -o yaml, or without -o",
                   output);
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

static bool check_arguments(const struct audit_request *request, const struct flag_list *rest,
                            struct err *err)
{
    if (rest->count)
        return err_set(err, ERR_INVALID,
                       "unexpected argument \"%s\"; scripts are named by -f, objects by --from",
                       rest->items[0]);
    bool of_engine = request->engine.asked;
    if (of_engine && request->from.count)
        return err_set(err, ERR_INVALID, "--engine and --from are two audits: give one of them");
    if (!request->options.files.count && (!of_engine || request->explain || request->list_rules))
        return err_set(err, ERR_INVALID, "no script: name one by -f FILE or -f DIR");
    if (!check_fix(request, err)) return false;
    const char *other = of_engine ? names_cluster(&request->options.cluster) : NULL;
    if (other)
        return err_set(err, ERR_INVALID, "--engine asks about the cluster of the engine: %s goes without it",
                       other);
    return true;
}

static bool read_selector(struct audit_request *request, struct err *err)
{
    if (!request->selector) return true;
    request->labels = selector_parse(str_of(request->selector), err);
    return request->labels || err_wrap(err, "--selector");
}

static bool parse(int argc, char **argv, struct audit_request *request, struct err *err)
{
    struct flag_list rest = {0};
    struct options *options = &request->options;
    const struct flag *tables[] = {audit_flags(request),
                                   apply_flags(request),
                                   audit_engine_flags(request),
                                   param_flags(options),
                                   script_flags(options),
                                   connection_flags(options),
                                   NULL};
    bool ok = flags_parse(tables, argc, argv, &rest, err) && options_set_limits(options, err) &&
              check_arguments(request, &rest, err) && read_selector(request, err) &&
              options_read_params(options, err);
    flag_list_clear(&rest);
    options->cluster.as_groups = options->as_groups.items;
    options->cluster.as_group_count = options->as_groups.count;
    return ok && (!options->files.count || script_files_find(&options->files, &request->files, err)) &&
           options_check_trusted(options, &request->files, err);
}

static void print_old(const char *path, const struct baseline *baseline)
{
    size_t old = baseline ? baseline_old_count(baseline) : 0;
    if (old)
        fprintf(
            stderr,
            "kubelua audit: %s: %zu of its findings have no fingerprint, and are known by their path as it "
            "stands; write it anew by -o json\n",
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

static int run(int argc, char **argv)
{
    struct audit_request request = {0};
    struct err err = {0};
    int code = EXIT_USAGE;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (parse(argc, argv, &request, &err)) code = run_request(&request, &err);
    if (err.text[0]) fprintf(stderr, "kubelua audit: %s\n", err.text);
    request_clear(&request);
    return code;
}

const struct command cmd_audit = {"audit", "Ask rules about objects, and report what they find", run, help};
