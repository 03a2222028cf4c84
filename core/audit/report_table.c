/* The report that people read: a block for each rule with findings, the worst first, and what it comes to.
 *
 *   CRITICAL  privileged  No container is privileged  (2 of 310 objects)
 *     shop/web-1  Pod  container "web" is privileged  dump.json:120
 *
 * On a terminal lines break at its width, below where their text begins; elsewhere each finding is one line.
 */
#include <inttypes.h>
#include <string.h>

#include "audit/report_parts.h"
#include "base/buf.h"
#include "base/terminal.h"

enum { SHOWN_OF_RULE = 20, SUBJECT_MAX = 60, KIND_MAX = 30, GAP = 2, INDENT = 2, MESSAGE_MIN = 30 };

#define RESET "\033[0m"
#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
static const char *const severity_colours[] = {DIM, "\033[36m", "\033[33m", RED, "\033[1;31m"};

struct table_report {
    const struct audit_table *table;
    const struct report_options *options;
    FILE *out;
    size_t column;    /* where the cursor is */
    struct buf piece; /* what is about to be written, fit for a terminal */
};

/* Rows of one rule, which stand together. */
struct block {
    size_t first, end, shown;
    size_t subject_width, kind_width;
    size_t text_at; /* the column where messages begin */
    bool stacked;   /* the terminal is too narrow for columns: messages stand below */
};

static const char *code(const struct table_report *r, const char *colour)
{
    return r->options->colours ? colour : "";
}

/* --- writing */

static void end_line(struct table_report *r)
{
    fputc('\n', r->out);
    r->column = 0;
}

static void blanks_to(struct table_report *r, size_t column)
{
    if (column > r->column) fprintf(r->out, "%*s", (int)(column - r->column), "");
    if (column > r->column) r->column = column;
}

static void put(struct table_report *r, const char *colour, struct str text)
{
    fprintf(r->out, "%s%.*s%s", code(r, colour), STR_ARG(text), *colour ? code(r, RESET) : "");
    r->column += terminal_columns(text);
}

/* A text that breaks at the width, and goes on below `at`. */
static void put_wrapped(struct table_report *r, const char *colour, struct str text, size_t at)
{
    struct str line;
    size_t width = r->options->width;
    size_t room = width == 0 ? SIZE_MAX : width > r->column ? width - r->column : 0;
    while (terminal_wrap(&text, room, &line)) {
        put(r, colour, line);
        if (text.n == 0) break;
        end_line(r);
        blanks_to(r, at);
        room = width > at ? width - at : 0;
    }
}

/* Behind what there is, or on a line of its own where that has no room for it. */
static void put_part(struct table_report *r, const char *colour, struct str text, size_t at)
{
    size_t width = r->options->width;
    if (width && r->column > at && r->column + GAP + terminal_columns(text) > width) {
        end_line(r);
        blanks_to(r, at);
    } else if (r->column > at) {
        blanks_to(r, r->column + GAP);
    }
    put_wrapped(r, colour, text, at);
}

/* What `piece` has. */
static struct str fit(struct table_report *r, struct str text)
{
    r->piece.len = 0;
    terminal_put(&r->piece, text);
    return buf_slice(&r->piece);
}

/* --- columns */

/* Others are counted only. */
static bool is_shown(const struct table_report *r, const struct audit_row *row)
{
    return row->verdict >= VERDICT_WARN || (r->options->wide && row->verdict == VERDICT_SKIP);
}

static size_t most_shown(const struct table_report *r)
{
    return r->options->wide ? SIZE_MAX : SHOWN_OF_RULE;
}

static struct str subject_of(struct table_report *r, const struct audit_object *object)
{
    r->piece.len = 0;
    terminal_put(&r->piece, object->ns);
    if (object->ns.n) buf_putc(&r->piece, '/');
    terminal_put(&r->piece, object->name);
    return buf_slice(&r->piece);
}

static void widen(size_t *width, size_t columns, size_t max)
{
    if (columns > max) columns = max;
    if (columns > *width) *width = columns;
}

static struct block measure(struct table_report *r, size_t first, size_t end)
{
    struct block block = {.first = first, .end = end};
    for (size_t i = first; i < end; i++) {
        const struct audit_row *row = audit_table_row(r->table, i);
        if (!is_shown(r, row) || block.shown++ >= most_shown(r)) continue;
        const struct audit_object *object = audit_table_object(r->table, row->object);
        widen(&block.subject_width, terminal_columns(subject_of(r, object)), SUBJECT_MAX);
        widen(&block.kind_width, terminal_columns(fit(r, object->kind)), KIND_MAX);
    }
    block.text_at = INDENT + block.subject_width + GAP + block.kind_width + GAP;
    block.stacked = r->options->width && block.text_at + MESSAGE_MIN > r->options->width;
    if (block.stacked) block.text_at = (size_t)2 * INDENT;
    return block;
}

/* --- a row */

/* "warning: no limit (accepted until ...)" */
static void print_message(struct table_report *r, const struct block *block, const struct audit_row *row)
{
    struct buf message = {0};
    const char *mark = report_mark(row);
    if (*mark) {
        put(r, row->verdict == VERDICT_ERROR ? RED : DIM, str_of(mark));
        put(r, "", STR(": "));
    }
    report_put_message(&message, row);
    put_wrapped(r, "", fit(r, buf_slice(&message)), block->text_at);
    buf_clear(&message);
}

static void print_subject(struct table_report *r, const struct block *block,
                          const struct audit_object *object)
{
    blanks_to(r, INDENT);
    put(r, "", subject_of(r, object));
    blanks_to(r, block->stacked ? 0 : INDENT + block->subject_width);
    blanks_to(r, r->column + GAP);
    put(r, DIM, fit(r, object->kind));
    if (block->stacked)
        end_line(r);
    else
        blanks_to(r, r->column + GAP);
}

static void print_place(struct table_report *r, const struct block *block, const struct audit_object *object)
{
    if (!object->file.n) return;
    r->piece.len = 0;
    terminal_put(&r->piece, object->file);
    if (object->line) buf_printf(&r->piece, ":%zu", object->line);
    put_part(r, DIM, buf_slice(&r->piece), block->text_at);
}

static void print_path(struct table_report *r, const struct block *block, const struct audit_row *row)
{
    if (!r->options->wide || (!row->path.n && !row->value.n)) return;
    r->piece.len = 0;
    terminal_put(&r->piece, row->path);
    if (row->path.n && row->value.n) buf_puts(&r->piece, ": ");
    terminal_put(&r->piece, row->value);
    put_part(r, DIM, buf_slice(&r->piece), block->text_at);
}

/* Of several findings of an object only the first names it on a terminal; who pipes has a name in each line.
 */
static void print_row(struct table_report *r, const struct block *block, const struct audit_row *row,
                      bool again)
{
    const struct audit_object *object = audit_table_object(r->table, row->object);
    again = again && r->options->width;
    if (!again) print_subject(r, block, object);
    blanks_to(r, block->text_at);
    print_message(r, block, row);
    print_path(r, block, row);
    if (!again) print_place(r, block, object);
    end_line(r);
}

/* --- a block */

static void print_counts(struct table_report *r, const struct audit_rule *rule)
{
    size_t objects = 0, found = rule->counts[VERDICT_FAIL] + rule->counts[VERDICT_WARN];
    for (size_t v = 0; v < VERDICTS; v++) objects += rule->counts[v];
    r->piece.len = 0;
    buf_printf(&r->piece, "(%zu of %zu objects", found, objects);
    if (rule->counts[VERDICT_ERROR])
        buf_printf(&r->piece, ", %zu error%s", rule->counts[VERDICT_ERROR],
                   rule->counts[VERDICT_ERROR] == 1 ? "" : "s");
    buf_putc(&r->piece, ')');
    put_part(r, DIM, buf_slice(&r->piece), INDENT);
}

static void print_head(struct table_report *r, const struct audit_rule *rule)
{
    char severity[16];
    size_t n = 0;
    for (const char *p = severity_name(rule->severity); *p && n + 1 < sizeof severity; p++)
        severity[n++] = (char)(*p - 'a' + 'A');
    put(r, severity_colours[rule->severity], (struct str){severity, n});
    put_part(r, BOLD, fit(r, str_of(rule->id)), INDENT);
    if (*rule->title) put_part(r, "", fit(r, str_of(rule->title)), INDENT);
    print_counts(r, rule);
    end_line(r);
}

static void print_block(struct table_report *r, size_t first, size_t end)
{
    struct block block = measure(r, first, end);
    size_t printed = 0;
    uint32_t last = UINT32_MAX;
    if (block.shown == 0) return;
    print_head(r, audit_table_rule(r->table, audit_table_row(r->table, first)->rule));
    for (size_t i = first; i < end && printed < most_shown(r); i++) {
        const struct audit_row *row = audit_table_row(r->table, i);
        if (!is_shown(r, row)) continue;
        print_row(r, &block, row, row->object == last);
        last = row->object;
        printed++;
    }
    if (block.shown > printed)
        fprintf(r->out, "  %sand %zu more: -o wide shows all%s\n", code(r, DIM), block.shown - printed,
                code(r, RESET));
    end_line(r);
}

/* --- what it comes to */

/* Behind `before`, which is a comma, or a blank and a bracket, where a line may break. */
static void put_next(struct table_report *r, const char *before, const char *colour, struct str text)
{
    size_t width = r->options->width;
    bool bracket = strcmp(before, " (") == 0;
    put(r, "", bracket ? STR("") : str_of(before));
    if (width && r->column + GAP + terminal_columns(text) + 1 > width) {
        end_line(r);
        blanks_to(r, INDENT);
    } else {
        blanks_to(r, r->column + (*before != '\0'));
    }
    if (bracket) put(r, "", STR("("));
    put(r, colour, text);
}

static void put_count(struct table_report *r, const char *before, const char *colour, size_t n,
                      const char *noun, bool plural)
{
    r->piece.len = 0;
    buf_printf(&r->piece, "%zu %s%s", n, noun, plural && n != 1 ? "s" : "");
    put_next(r, before, colour, buf_slice(&r->piece));
}

static void print_severities(struct table_report *r, const struct audit_totals *totals)
{
    const char *before = " (";
    for (int s = SEVERITIES - 1; s >= 0; s--) {
        if (!totals->severities[s]) continue;
        put_count(r, before, severity_colours[s], totals->severities[s], severity_name((enum severity)s),
                  false);
        before = ",";
    }
    if (*before == ',') put(r, "", STR(")"));
}

/* "4 findings (1 critical, 3 low), 1 of them a warning, 1 skipped, 1 error" */
static void print_findings(struct table_report *r, const struct audit_totals *totals)
{
    size_t warned = totals->rows[VERDICT_WARN], found = totals->rows[VERDICT_FAIL] + warned,
           skipped = totals->verdicts[VERDICT_SKIP], errors = totals->rows[VERDICT_ERROR];
    put_count(r, "", found ? BOLD : GREEN, found, "finding", true);
    print_severities(r, totals);
    if (warned) put_count(r, ",", "", warned, warned == 1 ? "of them a warning" : "of them warnings", false);
    if (totals->known) put_count(r, ",", "", totals->known, "known", false);
    if (skipped) put_count(r, ",", "", skipped, "skipped", false);
    if (errors) put_count(r, ",", RED, errors, "error", true);
    end_line(r);
}

/* "310 objects, 12 rules, 8 of them clean, 1.23 s" */
static void print_totals(struct table_report *r)
{
    struct audit_totals totals = audit_table_totals(r->table);
    size_t clean = 0, rules = audit_table_rule_count(r->table);
    for (uint32_t i = 0; i < rules; i++) {
        const struct audit_rule *rule = audit_table_rule(r->table, i);
        clean += rule->counts[VERDICT_PASS] > 0 &&
                 rule->counts[VERDICT_FAIL] + rule->counts[VERDICT_WARN] + rule->counts[VERDICT_ERROR] == 0;
    }
    print_findings(r, &totals);
    put_count(r, "", "", totals.looked_at, "object", true);
    if (totals.unlooked) put_count(r, ",", "", totals.unlooked, "of kinds that no rule looks at", false);
    if (totals.foreign) put_count(r, ",", "", totals.foreign, "passed over", false);
    put_count(r, ",", "", rules, "rule", true);
    put_count(r, ",", "", clean, "of them clean", false);
    r->piece.len = 0;
    buf_printf(&r->piece, "%" PRId64 ".%02" PRId64 " s", r->options->took_ms / 1000,
               r->options->took_ms % 1000 / 10);
    put_next(r, ",", "", buf_slice(&r->piece));
    end_line(r);
    if (!r->options->incomplete) return;
    put(r, RED, str_of(r->options->incomplete));
    end_line(r);
}

void report_table(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    struct table_report r = {.table = table, .options = options, .out = out};
    size_t rows = audit_table_count_rows(table);
    for (size_t first = 0, end; first < rows; first = end) {
        uint32_t rule = audit_table_row(table, first)->rule;
        for (end = first; end < rows && audit_table_row(table, end)->rule == rule; end++)
            ;
        print_block(&r, first, end);
    }
    print_totals(&r);
    buf_clear(&r.piece);
}
