/* The report that people read: a block for each rule with findings, the worst first, and what it comes to.
 *
 *   CRITICAL  privileged  Containers run privileged                     2 of 310 objects
 *     shop/web-1     Pod         container "web" is privileged          dump.json:120
 */
#include <inttypes.h>
#include <string.h>

#include "audit/report.h"
#include "base/buf.h"
#include "base/must.h"

enum { SHOWN_OF_RULE = 20, SUBJECT_MAX = 60, KIND_MAX = 24 };

#define RESET "\033[0m"
#define BOLD  "\033[1m"
#define DIM   "\033[2m"
static const char *const severity_colours[] = {DIM, "\033[36m", "\033[33m", "\033[31m", "\033[1;31m"};

struct table_report {
    const struct audit_table *table;
    const struct report_options *options;
    FILE *out;
};

/* Rows of one rule, which stand together. */
struct block {
    size_t first, end, shown;
    int subject_width, kind_width;
};

static const char *code(const struct table_report *r, const char *colour)
{
    return r->options->colours ? colour : "";
}

/* Others are counted only. */
static bool is_shown(const struct table_report *r, const struct audit_row *row)
{
    return row->verdict >= VERDICT_WARN || (r->options->wide && row->verdict == VERDICT_SKIP);
}

static size_t most_shown(const struct table_report *r)
{
    return r->options->wide ? SIZE_MAX : SHOWN_OF_RULE;
}

static int subject_width(const struct audit_object *object)
{
    size_t n = object->name.n + (object->ns.n ? object->ns.n + 1 : 0);
    return n < SUBJECT_MAX ? (int)n : SUBJECT_MAX;
}

static void measure(const struct table_report *r, struct block *block)
{
    for (size_t i = block->first; i < block->end; i++) {
        const struct audit_row *row = audit_table_row(r->table, i);
        if (!is_shown(r, row) || block->shown++ >= most_shown(r)) continue;
        const struct audit_object *object = audit_table_object(r->table, row->object);
        int subject = subject_width(object),
            kind = object->kind.n < KIND_MAX ? (int)object->kind.n : KIND_MAX;
        if (subject > block->subject_width) block->subject_width = subject;
        if (kind > block->kind_width) block->kind_width = kind;
    }
}

/* --- a row */

static void print_subject(const struct table_report *r, const struct audit_object *object, int width)
{
    struct buf subject = {0};
    if (object->ns.n) buf_printf(&subject, "%.*s/", STR_ARG(object->ns));
    buf_str(&subject, object->name);
    fprintf(r->out, "  %-*s", width, buf_text(&subject));
    buf_clear(&subject);
}

static const char *mark_of(enum verdict verdict)
{
    return verdict == VERDICT_ERROR  ? "error: "
           : verdict == VERDICT_WARN ? "warning: "
           : verdict == VERDICT_SKIP ? "skipped: "
                                     : "";
}

static void print_row(const struct table_report *r, const struct block *block, const struct audit_row *row)
{
    const struct audit_object *object = audit_table_object(r->table, row->object);
    print_subject(r, object, block->subject_width);
    fprintf(r->out, "  %-*.*s  %s%.*s", block->kind_width, STR_ARG(object->kind), mark_of(row->verdict),
            STR_ARG(row->message));
    if (r->options->wide && row->path.n)
        fprintf(r->out, "  %s%.*s%s", code(r, DIM), STR_ARG(row->path), code(r, RESET));
    if (object->file.n)
        fprintf(r->out, "  %s%.*s:%zu%s", code(r, DIM), STR_ARG(object->file), object->line, code(r, RESET));
    fputc('\n', r->out);
}

/* --- a block */

static void print_counts(const struct table_report *r, const struct audit_rule *rule)
{
    size_t objects = 0, found = rule->counts[VERDICT_FAIL] + rule->counts[VERDICT_WARN];
    for (size_t v = 0; v < VERDICTS; v++) objects += rule->counts[v];
    fprintf(r->out, "  %s%zu of %zu objects", code(r, DIM), found, objects);
    if (rule->counts[VERDICT_ERROR]) fprintf(r->out, ", %zu errors", rule->counts[VERDICT_ERROR]);
    fprintf(r->out, "%s\n", code(r, RESET));
}

static void print_head(const struct table_report *r, const struct audit_rule *rule)
{
    char severity[16];
    size_t n = 0;
    for (const char *p = severity_name(rule->severity); *p && n + 1 < sizeof severity; p++)
        severity[n++] = (char)(*p - 'a' + 'A');
    severity[n] = '\0';
    fprintf(r->out, "%s%s%s  %s%s%s", code(r, severity_colours[rule->severity]), severity, code(r, RESET),
            code(r, BOLD), rule->id, code(r, RESET));
    if (*rule->title) fprintf(r->out, "  %s", rule->title);
    print_counts(r, rule);
}

static void print_block(const struct table_report *r, size_t first, size_t end)
{
    struct block block = {.first = first, .end = end};
    size_t printed = 0;
    measure(r, &block);
    if (block.shown == 0) return;
    print_head(r, audit_table_rule(r->table, audit_table_row(r->table, first)->rule));
    for (size_t i = first; i < end && printed < most_shown(r); i++) {
        const struct audit_row *row = audit_table_row(r->table, i);
        if (!is_shown(r, row)) continue;
        print_row(r, &block, row);
        printed++;
    }
    if (block.shown > printed)
        fprintf(r->out, "  %sand %zu more: -o wide shows all%s\n", code(r, DIM), block.shown - printed,
                code(r, RESET));
    fputc('\n', r->out);
}

/* --- what it comes to */

static void print_severities(const struct table_report *r, const struct audit_totals *totals)
{
    const char *separator = " (";
    for (int s = SEVERITIES - 1; s >= 0; s--) {
        if (!totals->severities[s]) continue;
        fprintf(r->out, "%s%s%zu %s%s", separator, code(r, severity_colours[s]), totals->severities[s],
                severity_name((enum severity)s), code(r, RESET));
        separator = ", ";
    }
    if (*separator == ',') fputc(')', r->out);
}

static void print_totals(const struct table_report *r)
{
    struct audit_totals totals = audit_table_totals(r->table);
    size_t found = totals.verdicts[VERDICT_FAIL] + totals.verdicts[VERDICT_WARN], clean = 0,
           rules = audit_table_rule_count(r->table);
    for (uint32_t i = 0; i < rules; i++) {
        const struct audit_rule *rule = audit_table_rule(r->table, i);
        clean += rule->counts[VERDICT_FAIL] + rule->counts[VERDICT_WARN] + rule->counts[VERDICT_ERROR] == 0;
    }
    fprintf(r->out, "%zu objects, %zu rules, %zu of them without findings; %zu findings", totals.looked_at,
            rules, clean, found);
    print_severities(r, &totals);
    if (totals.verdicts[VERDICT_SKIP]) fprintf(r->out, ", %zu skipped", totals.verdicts[VERDICT_SKIP]);
    if (totals.verdicts[VERDICT_ERROR]) fprintf(r->out, ", %zu errors", totals.verdicts[VERDICT_ERROR]);
    fprintf(r->out, "; %" PRId64 ".%02" PRId64 " s\n", r->options->took_ms / 1000,
            r->options->took_ms % 1000 / 10);
}

void report_table(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    const struct table_report r = {table, options, out};
    size_t count = audit_table_count_rows(table);
    for (size_t first = 0, end; first < count; first = end) {
        uint32_t rule = audit_table_row(table, first)->rule;
        for (end = first; end < count && audit_table_row(table, end)->rule == rule; end++)
            ;
        print_block(&r, first, end);
    }
    print_totals(&r);
}
