/* `kubelua audit`: asks the rules of scripts about objects, and reports what they find. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "app/audit_offline.h"
#include "app/cmd.h"
#include "app/script_options.h"
#include "audit/report.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define SEVERITY_NAMES "info|low|medium|high|critical"

struct arguments {
    struct options options;
    struct script_files files;
    struct flag_list from;
    const char *output, *fail_on;
    size_t max_object_size;
    bool allow_empty, recursive;
};

static void arguments_clear(struct arguments *arguments)
{
    script_files_clear(&arguments->files);
    flag_list_clear(&arguments->from);
    options_clear(&arguments->options);
}

static const struct flag *audit_flags(struct arguments *arguments)
{
    static struct flag table[8];
    arguments->output = "table";
    arguments->fail_on = "low";
    arguments->max_object_size = AUDIT_INPUT_OBJECT_MAX;
    const struct flag flags[] = {
        FLAG_SCRIPT_FILES(&arguments->options.files),
        {"from", 0, FLAG_LIST, &arguments->from, "FILE|DIR|-", NULL,
         "what is audited: JSON or YAML, as kubectl get prints it, or manifests; - is stdin (repeatable)"},
        {"recursive", 'R', FLAG_BOOL, &arguments->recursive, NULL, NULL, "of a folder also those in it"},
        {"max-object-size", 0, FLAG_SIZE, &arguments->max_object_size, "SIZE", NULL,
         "larger objects are refused (default 8Mi)"},
        {"output", 'o', FLAG_CHOICE, &arguments->output, REPORT_FORMATS, REPORT_FORMATS,
         "form of the report (default table)"},
        {"fail-on", 0, FLAG_CHOICE, &arguments->fail_on, SEVERITY_NAMES, SEVERITY_NAMES,
         "end with 1 for failures of this severity and above (default low)"},
        {"allow-empty", 0, FLAG_BOOL, &arguments->allow_empty, NULL, NULL,
         "it is no error that no object is of a kind that a rule looks at"},
    };
    return flags_fill(table, ARRAY_LEN(table), flags, ARRAY_LEN(flags));
}

static void help(void)
{
    struct arguments arguments = {0};
    puts("Ask the rules of scripts (k8s.rule) about objects, and report what they find.\n\n"
         "Usage:\n"
         "  kubelua audit -f FILE|DIR ... --from FILE ... [flags]\n\n"
         "The exit code is 0 when no rule failed; 1 for failures of the severity of --fail-on and above; 2 "
         "when\n"
         "something could not be read, or no object is of a kind that a rule looks at; 3 when a rule raised "
         "an\n"
         "error or went over a limit, so that it is not known what it would have said.\n\n"
         "Examples:\n"
         "  kubectl get pods -A -o json > pods.json && kubelua audit -f scripts/rules --from pods.json\n"
         "  kubelua audit -f scripts/rules --from manifests.yaml -o json --fail-on high\n\n"
         "Flags:");
    flags_print(audit_flags(&arguments));
    puts("\nScripts, as for kubelua run:");
    flags_print(script_flags(&arguments.options));
    arguments_clear(&arguments);
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

/* "pods.json, manifests" */
static char *source_of(const struct flag_list *from)
{
    struct buf text = {0};
    for (size_t i = 0; i < from->count; i++) buf_printf(&text, "%s%s", i ? ", " : "", from->items[i]);
    char *copy = xstrdup(buf_text(&text));
    buf_clear(&text);
    return copy;
}

static bool report(const struct arguments *arguments, struct audit_table *table, int64_t time_s,
                   int64_t took_ms)
{
    const struct report_format *format = report_format_of(arguments->output);
    char *source = source_of(&arguments->from);
    audit_table_sort(table);
    format->write(table,
                  &(const struct report_options){.wide = format->wide,
                                                 .colours = wants_colours(),
                                                 .width = terminal_width(),
                                                 .took_ms = took_ms,
                                                 .time_s = time_s,
                                                 .source = source},
                  stdout);
    free(source);
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

static int code_of(const struct arguments *arguments, const struct audit_table *table, enum audit_end end)
{
    struct audit_totals totals = audit_table_totals(table);
    if (end != AUDIT_WHOLE) return EXIT_USAGE;
    if (totals.looked_at == 0 && !arguments->allow_empty) {
        fputs(
            "kubelua audit: nothing was checked: no object is of a kind that a rule looks at; --allow-empty "
            "makes that no error\n",
            stderr);
        return EXIT_USAGE;
    }
    if (totals.verdicts[VERDICT_ERROR]) return EXIT_INCOMPLETE;
    return has_failed(table, arguments->fail_on) ? EXIT_FINDINGS : EXIT_OK;
}

static int audit(const struct arguments *arguments)
{
    const struct report_format *format = report_format_of(arguments->output);
    struct audit_table *table = audit_table_new(format->passes);
    int64_t begun_ns = clock_measure_ns(), time_s = time(NULL);
    struct err err;
    int code = EXIT_USAGE;
    enum audit_end end =
        audit_offline(&(const struct audit_offline_options){.options = &arguments->options,
                                                            .files = &arguments->files,
                                                            .from = &arguments->from,
                                                            .recursive = arguments->recursive,
                                                            .max_object_size = arguments->max_object_size,
                                                            .table = table},
                      &err);
    if (end == AUDIT_FAILED)
        fprintf(stderr, "kubelua audit: %s\n", err.text);
    else if (report(arguments, table, time_s, (clock_measure_ns() - begun_ns) / 1000000))
        code = code_of(arguments, table, end);
    audit_table_free(table);
    return code;
}

/* --- the command */

static bool parse(int argc, char **argv, struct arguments *arguments, struct err *err)
{
    struct flag_list rest = {0};
    struct options *options = &arguments->options;
    const struct flag *tables[] = {audit_flags(arguments), script_flags(options), NULL};
    bool ok = flags_parse(tables, argc, argv, &rest, err) && options_set_limits(options, err);
    if (ok && rest.count)
        ok = err_set(err, ERR_INVALID,
                     "unexpected argument \"%s\"; scripts are named by -f, objects by --from", rest.items[0]);
    if (ok && !options->files.count)
        ok = err_set(err, ERR_INVALID, "no script: name one by -f FILE or -f DIR");
    if (ok && !arguments->from.count)
        ok = err_set(err, ERR_INVALID, "nothing to audit: name objects by --from FILE");
    flag_list_clear(&rest);
    return ok && script_files_find(&options->files, &arguments->files, err) &&
           options_check_trusted(options, &arguments->files, err);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct err err;
    int code = EXIT_USAGE;
    log_setup(LOG_TEXT, 0);
    signal(SIGPIPE, SIG_IGN);
    if (parse(argc, argv, &arguments, &err))
        code = audit(&arguments);
    else
        fprintf(stderr, "kubelua audit: %s\n", err.text);
    arguments_clear(&arguments);
    return code;
}

const struct command cmd_audit = {"audit", "Ask rules about objects, and report what they find", run, help};
