/* The report that people read: a block for each rule with findings, the worst first, and what it comes to.
 *
 *   CRITICAL  privileged  No container is privileged  (2 of 310 objects)
 *     shop/web-1  Pod  container "web" is privileged  dump.json:120
 *
 * Objects of a cluster have the name of its context in place of a file. An error that rules share is a block
 * of its own, behind the others:
 *
 *   ERROR  30 rules ended with the same error for Pod shop/web
 *     shop/web  Pod  error: spec.containers must be a list, not a string  dump.json:120
 *     rules: privileged, image-tag, ...
 *
 * On a terminal lines break at its width, below where their text begins; elsewhere each finding is one line.
 */
#include "audit/report/report_errors.h"
#include "audit/report/report_lines.h"
#include "audit/report/report_parts.h"
#include "base/buf.h"
#include "base/text/terminal.h"

enum { SHOWN_OF_RULE = 20, SUBJECT_MAX = 60, KIND_MAX = 30, MESSAGE_MIN = 30, ID_MAX = 30 };

struct table_report {
    const struct audit_table *table;
    const struct report_options *options;
    struct report_lines lines;
    struct report_errors errors;
};

/* Adjacent rows that are printed as a block. */
struct block {
    size_t shown;
    size_t subject_width, kind_width;
    size_t text_at; /* column of messages */
    bool stacked;   /* the terminal is too narrow for columns: messages are on the next line */
};

/* --- columns */

/* Returns whether the row is printed in the block of its rule; others are only counted, or are in the block
 * of an error that rules share. */
static bool is_shown(const struct table_report *r, size_t i)
{
    const struct audit_row *row = audit_table_row(r->table, i);
    if (r->errors.shared && r->errors.shared[i]) return false;
    return row->verdict >= VERDICT_WARN || (r->options->wide && row->verdict == VERDICT_SKIP);
}

static size_t most_shown(const struct table_report *r)
{
    return r->options->wide ? SIZE_MAX : SHOWN_OF_RULE;
}

static struct str subject_of(struct table_report *r, const struct audit_object *object)
{
    r->lines.piece.len = 0;
    terminal_put(&r->lines.piece, object->ns);
    if (object->ns.n) buf_putc(&r->lines.piece, '/');
    terminal_put(&r->lines.piece, object->name);
    return buf_slice(&r->lines.piece);
}

static void widen(size_t *width, size_t columns, size_t max)
{
    if (columns > max) columns = max;
    if (columns > *width) *width = columns;
}

static void measure_row(struct table_report *r, struct block *block, const struct audit_row *row)
{
    const struct audit_object *object = audit_table_object(r->table, row->object);
    if (block->shown++ >= most_shown(r)) return;
    widen(&block->subject_width, terminal_columns(subject_of(r, object)), SUBJECT_MAX);
    widen(&block->kind_width, terminal_columns(lines_fit(&r->lines, object->kind)), KIND_MAX);
}

static void place_text(const struct table_report *r, struct block *block)
{
    block->text_at = LINES_INDENT + block->subject_width + LINES_GAP + block->kind_width + LINES_GAP;
    block->stacked = r->options->width && block->text_at + MESSAGE_MIN > r->options->width;
    if (block->stacked) block->text_at = (size_t)2 * LINES_INDENT;
}

/* --- a row */

/* Prints "warning: no limit (accepted until ...)". */
static void print_message(struct table_report *r, const struct block *block, const struct audit_row *row)
{
    struct buf message = {0};
    const char *mark = report_mark(row);
    if (*mark) {
        lines_put(&r->lines, row->verdict == VERDICT_ERROR ? LINES_RED : LINES_DIM, str_of(mark));
        lines_put(&r->lines, "", STR(": "));
    }
    audit_row_put_message(&message, row);
    lines_put_wrapped(&r->lines, "", lines_fit(&r->lines, buf_slice(&message)), block->text_at);
    buf_clear(&message);
}

static void print_subject(struct table_report *r, const struct block *block,
                          const struct audit_object *object)
{
    lines_blanks_to(&r->lines, LINES_INDENT);
    lines_put(&r->lines, "", subject_of(r, object));
    lines_blanks_to(&r->lines, block->stacked ? 0 : LINES_INDENT + block->subject_width);
    lines_blanks_to(&r->lines, r->lines.column + LINES_GAP);
    lines_put(&r->lines, LINES_DIM, lines_fit(&r->lines, object->kind));
    if (block->stacked)
        lines_end(&r->lines);
    else
        lines_blanks_to(&r->lines, r->lines.column + LINES_GAP);
}

static void print_place(struct table_report *r, const struct block *block, const struct audit_object *object)
{
    const char *cluster = r->options->cluster;
    if (!object->file.n && !cluster) return;
    r->lines.piece.len = 0;
    terminal_put(&r->lines.piece, object->file.n ? object->file : str_of(cluster));
    if (object->line) buf_printf(&r->lines.piece, ":%zu", object->line);
    lines_put_part(&r->lines, LINES_DIM, buf_slice(&r->lines.piece), block->text_at);
}

static void print_path(struct table_report *r, const struct block *block, const struct audit_row *row)
{
    if (!r->options->wide || (!row->path.n && !row->value.n)) return;
    r->lines.piece.len = 0;
    terminal_put(&r->lines.piece, row->path);
    if (row->path.n && row->value.n) buf_puts(&r->lines.piece, ": ");
    terminal_put(&r->lines.piece, row->value);
    lines_put_part(&r->lines, LINES_DIM, buf_slice(&r->lines.piece), block->text_at);
}

/* Prints a row. On a terminal only the first of several findings of an object has its name; in a pipe each
 * line has it. */
static void print_row(struct table_report *r, const struct block *block, const struct audit_row *row,
                      bool again)
{
    const struct audit_object *object = audit_table_object(r->table, row->object);
    again = again && r->options->width;
    if (!again) print_subject(r, block, object);
    lines_blanks_to(&r->lines, block->text_at);
    print_message(r, block, row);
    print_path(r, block, row);
    if (!again) print_place(r, block, object);
    lines_end(&r->lines);
}

/* --- a block */

static void print_counts(struct table_report *r, const struct audit_rule *rule)
{
    size_t objects = 0, found = rule->counts[VERDICT_FAIL] + rule->counts[VERDICT_WARN];
    for (size_t v = 0; v < VERDICTS; v++) objects += rule->counts[v];
    r->lines.piece.len = 0;
    buf_printf(&r->lines.piece, "(%zu of %zu objects", found, objects);
    if (rule->counts[VERDICT_ERROR])
        buf_printf(&r->lines.piece, ", %zu error%s", rule->counts[VERDICT_ERROR],
                   rule->counts[VERDICT_ERROR] == 1 ? "" : "s");
    buf_putc(&r->lines.piece, ')');
    lines_put_part(&r->lines, LINES_DIM, buf_slice(&r->lines.piece), LINES_INDENT);
}

static void print_head(struct table_report *r, const struct audit_rule *rule)
{
    char severity[16];
    size_t n = 0;
    for (const char *p = severity_name(rule->severity); *p && n + 1 < sizeof severity; p++)
        severity[n++] = (char)(*p - 'a' + 'A');
    lines_put(&r->lines, lines_severity_colours[rule->severity], (struct str){severity, n});
    lines_put_part(&r->lines, LINES_BOLD, lines_fit(&r->lines, str_of(rule->id)), LINES_INDENT);
    if (*rule->title) lines_put_part(&r->lines, "", lines_fit(&r->lines, str_of(rule->title)), LINES_INDENT);
    print_counts(r, rule);
    lines_end(&r->lines);
}

static void print_more(struct table_report *r, size_t count, const char *what)
{
    if (count == 0) return;
    fprintf(r->lines.out, "  %sand %zu more%s: -o wide shows all%s\n", lines_colour(&r->lines, LINES_DIM),
            count, what, lines_colour(&r->lines, LINES_RESET));
}

static void print_block(struct table_report *r, size_t first, size_t end)
{
    struct block block = {0};
    size_t printed = 0;
    uint32_t last = UINT32_MAX;
    for (size_t i = first; i < end; i++)
        if (is_shown(r, i)) measure_row(r, &block, audit_table_row(r->table, i));
    if (block.shown == 0) return;
    place_text(r, &block);
    print_head(r, audit_table_rule(r->table, audit_table_row(r->table, first)->rule));
    for (size_t i = first; i < end && printed < most_shown(r); i++) {
        const struct audit_row *row = audit_table_row(r->table, i);
        if (!is_shown(r, i)) continue;
        print_row(r, &block, row, row->object == last);
        last = row->object;
        printed++;
    }
    print_more(r, block.shown - printed, "");
    lines_end(&r->lines);
}

/* --- errors that rules share */

static const struct audit_row *row_of(const struct table_report *r, size_t i)
{
    return audit_table_row(r->table, r->errors.rows[i]);
}

static void print_error_head(struct table_report *r, size_t first, size_t end)
{
    const struct shared_error *error = &r->errors.items[first];
    struct buf text = {0}, object = {0};
    lines_put(&r->lines, LINES_RED, STR("ERROR"));
    buf_printf(&text, "%zu rules failed with the same error for ", error->rules);
    if (end - first == 1) {
        report_put_object(&object, audit_table_object(r->table, row_of(r, error->first)->object), ' ');
        terminal_put(&text, buf_slice(&object));
    } else {
        buf_printf(&text, "%zu objects", end - first);
    }
    lines_put_part(&r->lines, LINES_BOLD, buf_slice(&text), LINES_INDENT);
    lines_end(&r->lines);
    buf_clear(&object);
    buf_clear(&text);
}

static void print_error_rules(struct table_report *r, const struct shared_error *error)
{
    struct buf text = {0};
    for (size_t i = 0; i < error->rules; i++) {
        buf_puts(&text, i ? ", " : "rules: ");
        terminal_put(&text, str_of(audit_table_rule(r->table, row_of(r, error->first + i)->rule)->id));
    }
    lines_blanks_to(&r->lines, LINES_INDENT);
    lines_put_wrapped(&r->lines, LINES_DIM, buf_slice(&text), LINES_INDENT);
    lines_end(&r->lines);
    buf_clear(&text);
}

static void print_error_block(struct table_report *r, size_t first, size_t end)
{
    struct block block = {0};
    size_t printed = 0;
    for (size_t i = first; i < end; i++) measure_row(r, &block, row_of(r, r->errors.items[i].first));
    place_text(r, &block);
    print_error_head(r, first, end);
    for (; first + printed < end && printed < most_shown(r); printed++)
        print_row(r, &block, row_of(r, r->errors.items[first + printed].first), false);
    print_more(r, block.shown - printed, "");
    print_error_rules(r, &r->errors.items[first]);
    lines_end(&r->lines);
}

static void print_errors(struct table_report *r)
{
    size_t blocks = 0, left = 0;
    for (size_t first = 0, end; first < r->errors.count; first = end) {
        end = report_errors_end(&r->errors, first);
        if (blocks++ < most_shown(r))
            print_error_block(r, first, end);
        else
            left++;
    }
    print_more(r, left, left == 1 ? " set of rules with errors" : " sets of rules with errors");
    if (left) lines_end(&r->lines);
}

/* --- rules that were not evaluated, or not for all objects */

/* Puts what the list says of a rule, nothing if the rule is not in it. */
typedef void rule_text(const struct audit_rule *rule, struct buf *out);

static void put_not_evaluated(const struct audit_rule *rule, struct buf *out)
{
    buf_str(out, rule->not_evaluated);
}

static void put_skipped(const struct audit_rule *rule, struct buf *out)
{
    size_t objects = 0, skipped = rule->counts[VERDICT_SKIP];
    for (size_t v = 0; v < VERDICTS; v++) objects += rule->counts[v];
    if (skipped) buf_printf(out, "%zu of %zu object%s", skipped, objects, objects == 1 ? "" : "s");
}

static void print_rule_head(struct table_report *r, const char *colour, const char *head, size_t count)
{
    lines_put(&r->lines, colour, str_of(head));
    r->lines.piece.len = 0;
    buf_printf(&r->lines.piece, "%zu rule%s", count, count == 1 ? "" : "s");
    lines_put_part(&r->lines, LINES_BOLD, buf_slice(&r->lines.piece), LINES_INDENT);
    lines_end(&r->lines);
}

static void print_rule_text(struct table_report *r, const struct audit_rule *rule, struct str text, size_t at)
{
    lines_blanks_to(&r->lines, LINES_INDENT);
    lines_put(&r->lines, "", lines_fit(&r->lines, str_of(rule->id)));
    lines_blanks_to(&r->lines, at);
    lines_put_part(&r->lines, LINES_DIM, lines_fit(&r->lines, text), at);
    lines_end(&r->lines);
}

static void print_rules(struct table_report *r, const char *colour, const char *head, rule_text *put)
{
    size_t count = 0, width = 0, rules = audit_table_rule_count(r->table);
    struct buf text = {0};
    for (uint32_t i = 0; i < rules; i++) {
        const struct audit_rule *rule = audit_table_rule(r->table, i);
        text.len = 0;
        put(rule, &text);
        if (!text.len) continue;
        widen(&width, terminal_columns(str_of(rule->id)), ID_MAX);
        count++;
    }
    if (count) print_rule_head(r, colour, head, count);
    for (uint32_t i = 0; i < rules; i++) {
        const struct audit_rule *rule = audit_table_rule(r->table, i);
        text.len = 0;
        put(rule, &text);
        if (text.len) print_rule_text(r, rule, buf_slice(&text), LINES_INDENT + width + LINES_GAP);
    }
    if (count) lines_end(&r->lines);
    buf_clear(&text);
}

void report_table(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    struct table_report r = {.table = table, .options = options, .lines = {.options = options, .out = out}};
    size_t rows = audit_table_count_rows(table);
    report_errors_init(&r.errors, table);
    for (size_t first = 0, end; first < rows; first = end) {
        uint32_t rule = audit_table_row(table, first)->rule;
        for (end = first; end < rows && audit_table_row(table, end)->rule == rule; end++)
            ;
        print_block(&r, first, end);
    }
    print_errors(&r);
    if (options->wide) {
        print_rules(&r, LINES_DIM, "SKIPPED", put_skipped);
        print_rules(&r, LINES_RED, "NOT EVALUATED", put_not_evaluated);
    }
    report_totals(&r.lines, table);
    report_errors_clear(&r.errors);
    buf_clear(&r.lines.piece);
}
