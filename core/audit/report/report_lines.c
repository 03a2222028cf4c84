/* Lines of the table report; see report_lines.h. */
#include "audit/report/report_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/terminal.h"

const char *const lines_severity_colours[] = {LINES_DIM, "\033[36m", "\033[33m", LINES_RED, "\033[1;31m"};

const char *lines_colour(const struct report_lines *r, const char *colour)
{
    return r->options->colours ? colour : "";
}

void lines_end(struct report_lines *r)
{
    fputc('\n', r->out);
    r->column = 0;
}

void lines_blanks_to(struct report_lines *r, size_t column)
{
    if (column > r->column) fprintf(r->out, "%*s", (int)(column - r->column), "");
    if (column > r->column) r->column = column;
}

void lines_put(struct report_lines *r, const char *colour, struct str text)
{
    fprintf(r->out, "%s%.*s%s", lines_colour(r, colour), STR_ARG(text),
            *colour ? lines_colour(r, LINES_RESET) : "");
    r->column += terminal_columns(text);
}

void lines_put_wrapped(struct report_lines *r, const char *colour, struct str text, size_t at)
{
    struct str line;
    size_t width = r->options->width;
    size_t room = width == 0 ? SIZE_MAX : width > r->column ? width - r->column : 0;
    while (terminal_wrap(&text, room, &line)) {
        lines_put(r, colour, line);
        if (text.n == 0) break;
        lines_end(r);
        lines_blanks_to(r, at);
        room = width > at ? width - at : 0;
    }
}

void lines_put_part(struct report_lines *r, const char *colour, struct str text, size_t at)
{
    size_t width = r->options->width;
    if (width && r->column > at && r->column + LINES_GAP + terminal_columns(text) > width) {
        lines_end(r);
        lines_blanks_to(r, at);
    } else if (r->column > at) {
        lines_blanks_to(r, r->column + LINES_GAP);
    }
    lines_put_wrapped(r, colour, text, at);
}

struct str lines_fit(struct report_lines *r, struct str text)
{
    r->piece.len = 0;
    terminal_put(&r->piece, text);
    return buf_slice(&r->piece);
}

/* --- The last lines of the table report:
 *
 *   4 findings (1 critical, 3 low), 1 of them a warning, 2 skipped, 1 suppressed (1 high), 1 error
 *   310 objects, 12 rules, 8 of them clean, 1.23 s
 *   2 rules skipped every object: image-tag, privileged (-o wide and --explain RULE say more) */

enum { CLOSING = 2 };       /* columns of the bracket and the comma that may follow */
enum { SKIPPED_SHOWN = 3 }; /* names of rules that skipped every object */

/* Prints a part after `before`, a comma or a blank and a bracket, where a line may break. */
static void put_next(struct report_lines *r, const char *before, const char *colour, struct str text)
{
    size_t width = r->options->width;
    bool bracket = strcmp(before, " (") == 0;
    lines_put(r, "", bracket ? STR("") : str_of(before));
    if (width && r->column + LINES_GAP + terminal_columns(text) + CLOSING > width) {
        lines_end(r);
        lines_blanks_to(r, LINES_INDENT);
    } else {
        lines_blanks_to(r, r->column + (*before != '\0'));
    }
    if (bracket) lines_put(r, "", STR("("));
    lines_put(r, colour, text);
}

static void put_count(struct report_lines *r, const char *before, const char *colour, size_t n,
                      const char *noun, bool plural)
{
    r->piece.len = 0;
    buf_printf(&r->piece, "%zu %s%s", n, noun, plural && n != 1 ? "s" : "");
    put_next(r, before, colour, buf_slice(&r->piece));
}

static void print_severities(struct report_lines *r, const size_t counts[SEVERITIES])
{
    const char *before = " (";
    for (int s = SEVERITIES - 1; s >= 0; s--) {
        if (!counts[s]) continue;
        put_count(r, before, lines_severity_colours[s], counts[s], severity_name((enum severity)s), false);
        before = ",";
    }
    if (*before == ',') lines_put(r, "", STR(")"));
}

static void print_suppressed(struct report_lines *r, const struct audit_totals *totals)
{
    size_t count = 0;
    for (int s = 0; s < SEVERITIES; s++) count += totals->suppressed[s];
    if (!count) return;
    put_count(r, ",", "", count, "suppressed", false);
    print_severities(r, totals->suppressed);
}

/* Prints "4 findings (1 critical, 3 low), 1 of them a warning, 2 skipped, 1 suppressed (1 high), 1 error". */
static void print_findings(struct report_lines *r, const struct audit_totals *totals)
{
    size_t warned = totals->rows[VERDICT_WARN], found = totals->rows[VERDICT_FAIL] + warned,
           skipped = totals->verdicts[VERDICT_SKIP], errors = totals->rows[VERDICT_ERROR];
    put_count(r, "", found ? LINES_BOLD : LINES_GREEN, found, "finding", true);
    print_severities(r, totals->severities);
    if (warned) put_count(r, ",", "", warned, warned == 1 ? "of them a warning" : "of them warnings", false);
    if (totals->known) put_count(r, ",", "", totals->known, "known", false);
    if (skipped) put_count(r, ",", "", skipped, "skipped", false);
    print_suppressed(r, totals);
    if (errors) put_count(r, ",", LINES_RED, errors, "error", true);
    lines_end(r);
}

/* Marks the rules of which an annotation accepted a finding: they were evaluated. */
static bool *find_accepted(const struct audit_table *table)
{
    bool *accepted = xcalloc(audit_table_rule_count(table) + 1, sizeof *accepted);
    for (size_t i = 0; i < audit_table_count_rows(table); i++) {
        const struct audit_row *row = audit_table_row(table, i);
        accepted[row->rule] |= row->accepted;
    }
    return accepted;
}

static bool skipped_all(const struct audit_rule *rule)
{
    if (rule->known) return false;
    for (size_t v = 0; v < VERDICTS; v++)
        if (v != VERDICT_SKIP && rule->counts[v]) return false;
    return rule->counts[VERDICT_SKIP] > 0;
}

/* Names the rules that skipped every object, which would look clean otherwise: a parameter may turn them on,
 * such as those about pods in a dump without their workloads. */
static void print_all_skipped(struct report_lines *r, const struct audit_table *table)
{
    struct buf text = {0}, names = {0};
    size_t skipped = 0;
    bool *accepted = find_accepted(table);
    for (uint32_t i = 0; i < audit_table_rule_count(table); i++) {
        const struct audit_rule *rule = audit_table_rule(table, i);
        if (accepted[i] || !skipped_all(rule) || skipped++ >= SKIPPED_SHOWN) continue;
        if (names.len) buf_puts(&names, ", ");
        terminal_put(&names, str_of(rule->id));
    }
    buf_printf(&text, "%zu rule%s skipped every object: %s", skipped, skipped == 1 ? "" : "s",
               buf_text(&names));
    if (skipped > SKIPPED_SHOWN) buf_printf(&text, " and %zu more", skipped - SKIPPED_SHOWN);
    buf_puts(&text,
             r->options->wide ? " (--explain RULE says more)" : " (-o wide and --explain RULE say more)");
    if (skipped) lines_put_wrapped(r, LINES_DIM, buf_slice(&text), LINES_INDENT);
    if (skipped) lines_end(r);
    free(accepted);
    buf_clear(&names);
    buf_clear(&text);
}

void report_totals(struct report_lines *r, const struct audit_table *table)
{
    struct audit_totals totals = audit_table_totals(table);
    size_t clean = 0, rules = audit_table_rule_count(table);
    for (uint32_t i = 0; i < rules; i++) {
        const struct audit_rule *rule = audit_table_rule(table, i);
        clean += rule->counts[VERDICT_PASS] > 0 &&
                 rule->counts[VERDICT_FAIL] + rule->counts[VERDICT_WARN] + rule->counts[VERDICT_ERROR] == 0;
    }
    print_findings(r, &totals);
    put_count(r, "", "", totals.audited, "object", true);
    if (totals.unmatched) put_count(r, ",", "", totals.unmatched, "of kinds that no rule matches", false);
    if (totals.elsewhere) put_count(r, ",", "", totals.elsewhere, "in other namespaces", false);
    if (totals.foreign) put_count(r, ",", "", totals.foreign, "passed over", false);
    put_count(r, ",", "", rules, "rule", true);
    put_count(r, ",", "", clean, "of them clean", false);
    r->piece.len = 0;
    buf_printf(&r->piece, "%" PRId64 ".%02" PRId64 " s", r->options->took_ms / 1000,
               r->options->took_ms % 1000 / 10);
    put_next(r, ",", "", buf_slice(&r->piece));
    lines_end(r);
    print_all_skipped(r, table);
    if (!r->options->incomplete) return;
    lines_put(r, LINES_RED, str_of(r->options->incomplete));
    lines_end(r);
}
