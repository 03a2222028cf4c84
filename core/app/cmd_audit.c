/* `kubelua audit`: asks the rules of scripts about objects, and reports what they find. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "app/audit_engine.h"
#include "app/audit_explain.h"
#include "app/audit_live.h"
#include "app/audit_offline.h"
#include "app/cmd.h"
#include "app/script_options.h"
#include "audit/baseline.h"
#include "audit/fix_script.h"
#include "audit/input.h"
#include "audit/report.h"
#include "audit/report_parts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/terminal.h"

#define SEVERITY_NAMES "info|low|medium|high|critical"

static void request_clear(struct audit_request *request)
{
    script_files_clear(&request->files);
    flag_list_clear(&request->from);
    flag_list_clear(&request->params);
    flag_list_clear(&request->params_files);
    rule_params_free(request->rule_params);
    options_clear(&request->options);
}

static const struct flag *audit_flags(struct audit_request *request)
{
    static struct flag table[15];
    struct options *options = &request->options;
    request->output = "table";
    request->fail_on = "low";
    options->sync_timeout_ms = 60000;
    options->max_object_size = AUDIT_INPUT_OBJECT_MAX;
    const struct flag flags[] = {
        FLAG_SCRIPT_FILES(&options->files),
        {"from", 0, FLAG_LIST, &request->from, "FILE|DIR|-", NULL,
         "files instead of a cluster: JSON or YAML, as kubectl get prints it, or manifests; - is stdin "
         "(repeatable)"},
        {"recursive", 'R', FLAG_BOOL, &request->recursive, NULL, NULL, "of a folder also those in it"},
        {"max-object-size", 0, FLAG_SIZE, &options->max_object_size, "SIZE", NULL,
         "larger objects are refused (default 8Mi)"},
        {"output", 'o', FLAG_CHOICE, &request->output, REPORT_FORMATS, REPORT_FORMATS,
         "form of the report (default table)"},
        {"fail-on", 0, FLAG_CHOICE, &request->fail_on, SEVERITY_NAMES, SEVERITY_NAMES,
         "end with 1 for failures of this severity and above (default low)"},
        {"baseline", 0, FLAG_STRING, &request->baseline, "FILE", NULL,
         "hide the findings of an earlier report, made by -o json"},
        {"param", 0, FLAG_LIST, &request->params, "[RULE.]NAME=VALUE", NULL,
         "a parameter of rules (repeatable)"},
        {"params", 0, FLAG_LIST, &request->params_files, "FILE", NULL,
         "parameters of rules, as YAML or JSON (repeatable)"},
        {"explain", 0, FLAG_STRING, &request->explain, "RULE", NULL,
         "print what the rule is about, and audit nothing"},
        {"fix", 0, FLAG_BOOL, &request->fix, NULL, NULL,
         "print what rules would do about their failures, as commands; with -o json or yaml in the report"},
        {"allow-empty", 0, FLAG_BOOL, &request->allow_empty, NULL, NULL,
         "it is no error that no object is of a kind that a rule looks at"},
        {"sync-timeout", 0, FLAG_DURATION_MS, &options->sync_timeout_ms, "DURATION", NULL,
         "of a cluster: time for all that rules look at to come (default 60s)"},
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
        "  kubelua audit -f FILE|DIR ... --explain RULE\n\n"
        "The exit code is 0 when no rule failed; 1 for failures of the severity of --fail-on and above; 2 "
        "when\n"
        "something could not be read, or no object is of a kind that a rule looks at; 3 when a rule raised "
        "an\n"
        "error or went over a limit, or something could not be had of the cluster or the engine, so that it\n"
        "is not known what there would have been to say.\n\n"
        "Examples:\n"
        "  kubelua audit -f scripts/rules --context prod -n shop\n"
        "  kubectl get pods -A -o json > pods.json && kubelua audit -f scripts/rules --from pods.json\n"
        "  kubelua audit -f scripts/rules --from manifests.yaml -o sarif --fail-on high > audit.sarif\n"
        "  kubelua audit -f scripts/rules --engine\n"
        "  kubelua audit -f scripts/rules -o json > known.json\n"
        "  kubelua audit -f scripts/rules --baseline known.json\n"
        "  kubelua audit -f scripts/rules --fix > fixes.sh\n\n"
        "Flags:");
    flags_print(audit_flags(&request));
    puts("\nOf a running engine:");
    flags_print(audit_engine_flags(&request));
    puts("\nScripts, as for kubelua run:");
    flags_print(script_flags(&request.options));
    puts("\nConnection:");
    flags_print(connection_flags(&request.options));
    request_clear(&request);
}

/* --- the report */

static size_t terminal_width(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static bool wants_colours(void)
{
    return isatty(STDOUT_FILENO) && !nonempty(getenv("NO_COLOR"));
}

/* What is printed, and what it is of. */
struct audit {
    const struct audit_request *request;
    struct audit_table *table;
    char *source; /* "pods.json, manifests.yaml"; "https://..." */
    int64_t begun_ns, time_s;
    enum audit_end end;
};

static char *names_of(const struct flag_list *from)
{
    struct buf text = {0};
    for (size_t i = 0; i < from->count; i++) buf_printf(&text, "%s%s", i ? ", " : "", from->items[i]);
    char *copy = xstrdup(buf_text(&text));
    buf_clear(&text);
    return copy;
}

static const char *incomplete(enum audit_end end)
{
    return end == AUDIT_UNREADABLE   ? "Not all could be read: there may be more to find."
           : end == AUDIT_INCOMPLETE ? "Not all could be had: there may be more to find."
                                     : NULL;
}

static void write_report(const struct audit *audit)
{
    const struct report_format *format = report_format_of(audit->request->output);
    format->write(audit->table,
                  &(const struct report_options){.wide = format->wide,
                                                 .colours = wants_colours(),
                                                 .width = terminal_width(),
                                                 .took_ms = (clock_measure_ns() - audit->begun_ns) / 1000000,
                                                 .time_s = audit->time_s,
                                                 .incomplete = incomplete(audit->end),
                                                 .source = audit->source},
                  stdout);
}

static bool is_table(const struct audit_request *request)
{
    return strcmp(request->output, "table") == 0;
}

/* What the report would have told. */
static void tell_errors(const struct audit_table *table)
{
    for (size_t i = 0; i < audit_table_count_rows(table); i++) {
        const struct audit_row *row = audit_table_row(table, i);
        if (row->verdict != VERDICT_ERROR) continue;
        struct buf line = {0}, told = {0};
        report_put_object(&line, audit_table_object(table, row->object), '/');
        buf_printf(&line, ": %s: %.*s", audit_table_rule(table, row->rule)->id, STR_ARG(row->message));
        terminal_put(&told, buf_slice(&line));
        fprintf(stderr, "kubelua audit: %s\n", buf_text(&told));
        buf_clear(&line);
        buf_clear(&told);
    }
}

static void write_fixes(const struct audit *audit)
{
    const struct audit_fixes *fixes = audit->request->fixes;
    struct buf text = {0};
    if (is_table(audit->request)) {
        fix_script_write(fixes, stdout);
        tell_errors(audit->table);
    }
    audit_fixes_sum_up(fixes, &text);
    fprintf(stderr, "kubelua audit: %s\n", buf_text(&text));
    buf_clear(&text);
}

static bool report(const struct audit *audit)
{
    const struct audit_request *request = audit->request;
    if (request->known) baseline_hide(request->known, audit->table);
    audit_table_sort(audit->table);
    if (!request->fixes || !is_table(request)) write_report(audit);
    if (request->fixes) write_fixes(audit);
    return fflush(stdout) == 0 && !ferror(stdout);
}

/* --- what it comes to */

static bool has_failed(const struct audit_table *table, const char *fail_on)
{
    enum severity least = SEVERITY_LOW;
    severity_of(str_of(fail_on), &least);
    for (uint32_t i = 0; i < audit_table_rule_count(table); i++) {
        const struct audit_rule *rule = audit_table_rule(table, i);
        if (rule->severity >= least && rule->counts[VERDICT_FAIL]) return true;
    }
    return false;
}

static int code_of(const struct audit *audit, enum audit_end end)
{
    struct audit_totals totals = audit_table_totals(audit->table);
    if (end == AUDIT_UNREADABLE) return EXIT_USAGE;
    if (totals.looked_at == 0 && end == AUDIT_WHOLE && !audit->request->allow_empty) {
        fputs(
            "kubelua audit: nothing was checked: no object is of a kind that a rule looks at; --allow-empty "
            "makes that no error\n",
            stderr);
        return EXIT_USAGE;
    }
    if (totals.verdicts[VERDICT_ERROR] || end == AUDIT_INCOMPLETE) return EXIT_INCOMPLETE;
    return has_failed(audit->table, audit->request->fail_on) ? EXIT_FINDINGS : EXIT_OK;
}

static enum audit_end audit_cluster(struct audit *audit, struct err *err)
{
    struct cluster_config cluster = {0};
    enum audit_end end = AUDIT_FAILED;
    if (cluster_config_load(&audit->request->options.cluster, &cluster, err)) {
        audit->source = xstrdup(cluster.server);
        end = audit_live(audit->request, &cluster, audit->table, err);
    }
    cluster_config_clear(&cluster);
    return end;
}

static enum audit_end audit_files(struct audit *audit, struct err *err)
{
    audit->source = names_of(&audit->request->from);
    return audit_offline(audit->request, audit->table, err);
}

static enum audit_end ask(struct audit *audit, struct err *err)
{
    if (audit->request->from.count) return audit_files(audit, err);
    if (!audit->request->engine.asked) return audit_cluster(audit, err);
    audit->source = xstrdup("the caches of a running engine");
    struct audit_engine_facts facts;
    enum audit_end end = audit_engine(audit->request, audit->table, &facts, err);
    if (end != AUDIT_FAILED) audit_engine_tell(&facts, audit->table);
    return end;
}

static int run_audit(const struct audit_request *request)
{
    struct audit audit = {.request = request,
                          .table = audit_table_new(report_format_of(request->output)->passes),
                          .begun_ns = clock_measure_ns(),
                          .time_s = time(NULL)};
    struct err err;
    int code = EXIT_USAGE;
    audit.end = ask(&audit, &err);
    if (audit.end == AUDIT_FAILED)
        fprintf(stderr, "kubelua audit: %s\n", err.text);
    else if (report(&audit))
        code = code_of(&audit, audit.end);
    else
        fprintf(stderr, "kubelua audit: the report cannot be written: %s\n", strerror(errno));
    audit_table_free(audit.table);
    free(audit.source);
    return code;
}

/* --- the command */

static bool check_fix(const struct audit_request *request, struct err *err)
{
    const char *output = request->output;
    if (request->fix && request->engine.asked)
        return err_set(err, ERR_INVALID, "--fix is for files and clusters: --engine has no fixes");
    if (!request->fix || is_table(request) || strcmp(output, "json") == 0 || strcmp(output, "yaml") == 0)
        return true;
    return err_set(err, ERR_INVALID, "-o %s has no fixes; --fix goes with -o json, -o yaml, or without -o",
                   output);
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
    if (!request->options.files.count && (!of_engine || request->explain))
        return err_set(err, ERR_INVALID, "no script: name one by -f FILE or -f DIR");
    return check_fix(request, err);
}

/* What is given by itself goes before what a file says. */
static bool read_params(struct audit_request *request, struct err *err)
{
    bool ok = true;
    request->rule_params = rule_params_new();
    for (size_t i = 0; ok && i < request->params_files.count; i++)
        ok = rule_params_read(request->rule_params, request->params_files.items[i], err);
    for (size_t i = 0; ok && i < request->params.count; i++)
        ok = rule_params_add(request->rule_params, request->params.items[i], err);
    return ok;
}

static bool parse(int argc, char **argv, struct audit_request *request, struct err *err)
{
    struct flag_list rest = {0};
    struct options *options = &request->options;
    const struct flag *tables[] = {audit_flags(request), audit_engine_flags(request), script_flags(options),
                                   connection_flags(options), NULL};
    bool ok = flags_parse(tables, argc, argv, &rest, err) && options_set_limits(options, err) &&
              check_arguments(request, &rest, err) && read_params(request, err);
    flag_list_clear(&rest);
    options->cluster.as_groups = options->as_groups.items;
    options->cluster.as_group_count = options->as_groups.count;
    return ok && (!options->files.count || script_files_find(&options->files, &request->files, err)) &&
           options_check_trusted(options, &request->files, err);
}

static int run_request(struct audit_request *request, struct err *err)
{
    struct baseline *baseline = NULL;
    struct audit_fixes fixes = {0};
    int code = EXIT_USAGE;
    if (request->explain) return audit_explain(request, err) ? EXIT_OK : EXIT_USAGE;
    if (request->baseline) baseline = baseline_read(request->baseline, err);
    request->known = baseline;
    request->fixes = request->fix ? &fixes : NULL;
    if (baseline || !request->baseline) code = run_audit(request);
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
