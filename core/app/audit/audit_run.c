/* An audit from its request to its exit code; see audit_run.h. */
#include "app/audit/audit_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "app/audit/audit_apply.h"
#include "app/audit/audit_engine.h"
#include "app/audit/audit_of_cluster.h"
#include "app/audit/audit_of_files.h"
#include "audit/fix/fix_script.h"
#include "audit/report/report.h"
#include "audit/report/report_parts.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/mem.h"
#include "base/text/terminal.h"

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

/* Result to print, and its source. */
struct audit {
    const struct audit_request *request;
    struct audit_table *table;
    char *source;  /* "pods.json, manifests.yaml"; "https://..." */
    char *cluster; /* NULL: it has no name */
    int64_t begun_ns, time_s;
    enum audit_end end;
};

static const char *incomplete(enum audit_end end)
{
    return end == AUDIT_UNREADABLE   ? "Some input could not be read; there may be more findings."
           : end == AUDIT_INCOMPLETE ? "Some objects could not be retrieved; there may be more findings."
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
                                                 .source = audit->source,
                                                 .cluster = audit->cluster},
                  stdout);
}

bool audit_is_table(const struct audit_request *request)
{
    return strcmp(request->output, "table") == 0;
}

/* Prints the errors that a report would have contained. */
static void print_errors(const struct audit_table *table)
{
    for (size_t i = 0; i < audit_table_count_rows(table); i++) {
        const struct audit_row *row = audit_table_row(table, i);
        if (row->verdict != VERDICT_ERROR) continue;
        struct buf line = {0}, printed = {0};
        report_put_object(&line, audit_table_object(table, row->object), '/');
        buf_printf(&line, ": %s: %.*s", audit_table_rule(table, row->rule)->id, STR_ARG(row->message));
        terminal_put(&printed, buf_slice(&line));
        fprintf(stderr, "kubelua audit: %s\n", buf_text(&printed));
        buf_clear(&line);
        buf_clear(&printed);
    }
}

static void write_fixes(const struct audit *audit)
{
    const struct audit_request *request = audit->request;
    const struct audit_fixes *fixes = request->fixes;
    struct buf text = {0};
    if (audit_is_table(request)) {
        if (!request->apply) fix_script_write(fixes, stdout);
        print_errors(audit->table);
    }
    audit_fixes_sum_up(fixes, &text);
    fprintf(stderr, "kubelua audit: %s\n", buf_text(&text));
    buf_clear(&text);
    if (request->apply) audit_apply_sum_up(request);
}

static bool report(const struct audit *audit)
{
    const struct audit_request *request = audit->request;
    if (request->known) baseline_hide(request->known, audit->table);
    audit_table_sort(audit->table);
    if (!request->fixes || !audit_is_table(request)) write_report(audit);
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

/* Returns whether there was nothing to audit; with a selector, the dropped objects are not counted. */
static bool has_no_input(const struct audit_request *request, const struct audit_totals *totals)
{
    return request->from.count && !nonempty(request->selector) && !totals->unmatched && !totals->elsewhere;
}

static void print_nothing(const struct audit_request *request, const struct audit_totals *totals,
                          bool is_whole)
{
    const char *selector = request->selector, *which = is_whole ? "" : "that could be retrieved ";
    struct buf text = {0};
    if (has_no_input(request, totals))
        buf_printf(&text, "the input contains no objects%s",
                   request->exclude.count ? " in files that --exclude allows" : "");
    else if (nonempty(selector))
        buf_printf(&text,
                   "no object %sof a kind that the rules match has labels that match --selector \"%s\"",
                   which, selector);
    else if (totals->elsewhere)
        buf_printf(&text, "no object %sof a kind that the rules match is in the namespace of -n", which);
    else
        buf_printf(&text, "no object %shas a kind that a rule matches", which);
    fprintf(stderr, "kubelua audit: nothing was audited: %s%s\n", buf_text(&text),
            is_whole ? "; use --allow-empty to allow this" : "");
    buf_clear(&text);
}

/* Zero findings would look as if all were well. */
static void print_skips(const struct audit_table *table, const struct audit_totals *totals)
{
    bool all =
        totals->evaluated > 0 && totals->known == 0 && totals->verdicts[VERDICT_SKIP] == totals->evaluated;
    for (size_t i = 0; all && i < audit_table_count_rows(table); i++)
        all = !audit_table_row(table, i)->accepted;
    if (all) fprintf(stderr, "kubelua audit: nothing was audited: every rule skipped every object\n");
}

static int code_of(const struct audit *audit, enum audit_end end)
{
    struct audit_totals totals = audit_table_totals(audit->table);
    if (end == AUDIT_UNREADABLE) return EXIT_USAGE;
    if (totals.audited == 0 && !audit->request->allow_empty) {
        print_nothing(audit->request, &totals, end == AUDIT_COMPLETE);
        if (end == AUDIT_COMPLETE) return EXIT_USAGE;
    }
    print_skips(audit->table, &totals);
    if (totals.verdicts[VERDICT_ERROR] || end == AUDIT_INCOMPLETE) return EXIT_INCOMPLETE;
    if (audit->request->fixes && audit->request->fixes->failed) return EXIT_INCOMPLETE;
    return has_failed(audit->table, audit->request->fail_on) ? EXIT_FINDINGS : EXIT_OK;
}

static enum audit_end audit_cluster(struct audit *audit, struct err *err)
{
    struct cluster_config cluster = {0};
    enum audit_end end = AUDIT_FAILED;
    if (cluster_config_load(&audit->request->options.cluster, &cluster, err)) {
        audit->source = xstrdup(cluster.server);
        /* A name that all clusters have tells nothing, and that of a context is of its own cluster. */
        const struct cluster_flags *flags = &audit->request->options.cluster;
        bool is_other = (flags->server && *flags->server) || (flags->cluster && *flags->cluster);
        bool has_name = cluster.name && !is_other && strcmp(cluster.name, "in-cluster") != 0;
        audit->cluster = has_name ? xstrdup(cluster.name) : NULL;
        end = audit_of_cluster(audit->request, &cluster, audit->table, err);
    }
    cluster_config_clear(&cluster);
    return end;
}

static enum audit_end audit_files(struct audit *audit, struct err *err)
{
    audit->source = flag_list_text(&audit->request->from);
    return audit_of_files(audit->request, audit->table, err);
}

static enum audit_end evaluate(struct audit *audit, struct err *err)
{
    if (audit->request->from.count) return audit_files(audit, err);
    if (!audit->request->engine.enabled) return audit_cluster(audit, err);
    audit->source = xstrdup("the caches of a running engine");
    struct audit_engine_facts facts;
    enum audit_end end = audit_engine(audit->request, audit->table, &facts, err);
    if (end != AUDIT_FAILED) audit_engine_report_pause(&facts, audit->table);
    return end;
}

int audit_run(const struct audit_request *request)
{
    struct audit audit = {.request = request,
                          .table = audit_table_new(report_format_of(request->output)->passes),
                          .begun_ns = clock_measure_ns(),
                          .time_s = time(NULL)};
    struct err err;
    int code = EXIT_USAGE;
    audit.end = evaluate(&audit, &err);
    if (audit.end == AUDIT_FAILED)
        fprintf(stderr, "kubelua audit: %s\n", err.text);
    else if (report(&audit))
        code = code_of(&audit, audit.end);
    else
        fprintf(stderr, "kubelua audit: cannot write the report: %s\n", strerror(errno));
    audit_table_free(audit.table);
    free(audit.source);
    free(audit.cluster);
    return code;
}
