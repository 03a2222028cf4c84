/* The report that people read: a block for each rule with findings, the worst first, and what it comes to.
 *
 *   CRITICAL  privileged  No container is privileged  (2 of 310 objects)
 *     shop/web-1  Pod  container "web" is privileged  dump.json:120
 *
 * On a terminal lines break at its width, below where their text begins; elsewhere each finding is one line.
 */
#include <inttypes.h>
#include <string.h>

#include "audit/report.h"
#include "base/buf.h"
#include "base/terminal.h"

enum { SHOWN_OF_RULE = 20, SUBJECT_MAX = 60, KIND_MAX = 30, GAP = 2, INDENT = 2, MESSAGE_MIN = 30 };

#define RESET "\033[0m"
#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RED   "\033[31m"
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

static const char *mark_of(enum verdict verdict)
{
    return verdict == VERDICT_ERROR  ? "error: "
           : verdict == VERDICT_WARN ? "warning: "
           : verdict == VERDICT_SKIP ? "skipped: "
                                     : "";
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
    if (*mark_of(row->verdict))
        put(r, row->verdict == VERDICT_ERROR ? RED : DIM, str_of(mark_of(row->verdict)));
    put_wrapped(r, "", fit(r, row->message), block->text_at);
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

static void count(struct buf *out, size_t n, const char *noun)
{
    buf_printf(out, "%zu %s%s", n, noun, n == 1 ? "" : "s");
}

static void add_severities(const struct table_report *r, struct buf *out, const struct audit_totals *totals)
{
    const char *separator = " (";
    for (int s = SEVERITIES - 1; s >= 0; s--) {
        if (!totals->severities[s]) continue;
        buf_printf(out, "%s%s%zu %s%s", separator, code(r, severity_colours[s]), totals->severities[s],
                   severity_name((enum severity)s), code(r, RESET));
        separator = ", ";
    }
    if (*separator == ',') buf_putc(out, ')');
}

static void print_totals(struct table_report *r)
{
    struct audit_totals totals = audit_table_totals(r->table);
    size_t found = totals.verdicts[VERDICT_FAIL] + totals.verdicts[VERDICT_WARN], clean = 0,
           rules = audit_table_rule_count(r->table);
    for (uint32_t i = 0; i < rules; i++) {
        const struct audit_rule *rule = audit_table_rule(r->table, i);
        clean += rule->counts[VERDICT_FAIL] + rule->counts[VERDICT_WARN] + rule->counts[VERDICT_ERROR] == 0;
    }
    struct buf *out = &r->piece;
    out->len = 0;
    count(out, totals.looked_at, "object");
    buf_puts(out, ", ");
    count(out, rules, "rule");
    buf_printf(out, ", %zu of them without findings; ", clean);
    count(out, found, "finding");
    add_severities(r, out, &totals);
    if (totals.known) buf_printf(out, ", %zu known", totals.known);
    if (totals.verdicts[VERDICT_SKIP]) buf_printf(out, ", %zu skipped", totals.verdicts[VERDICT_SKIP]);
    if (totals.verdicts[VERDICT_ERROR]) {
        buf_printf(out, ", %s", code(r, RED));
        count(out, totals.verdicts[VERDICT_ERROR], "error");
        buf_puts(out, code(r, RESET));
    }
    buf_printf(out, "; %" PRId64 ".%02" PRId64 " s\n", r->options->took_ms / 1000,
               r->options->took_ms % 1000 / 10);
    fwrite(out->data, 1, out->len, r->out);
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
