/* Buffered writing, and rules with their rows, for all reports; see report_parts.h. */
#include "audit/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/json_out.h"

enum { PIECE_BYTES = 64 << 10 };

/* Writes JSON, which may contain DEL and the controls from U+0080 on, with those escaped: a terminal would
 * execute them. */
static void put_printable(struct str text, FILE *out)
{
    size_t plain = 0;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c != 0x7f && c != 0xc2) continue;
        unsigned char next = i + 1 < text.n ? (unsigned char)text.p[i + 1] : 0;
        if (c == 0xc2 && next >= 0xa0) continue;
        fwrite(text.p + plain, 1, i - plain, out);
        fprintf(out, "\\u%04x", c == 0x7f ? c : next);
        i += c == 0xc2;
        plain = i + 1;
    }
    if (plain < text.n) fwrite(text.p + plain, 1, text.n - plain, out);
}

void report_write(struct buf *text, FILE *out)
{
    if (text->len < PIECE_BYTES) return;
    put_printable((struct str){text->data, text->len - 1}, out);
    buf_consume(text, text->len - 1);
}

void report_finish(struct buf *text, FILE *out)
{
    if (text->len) put_printable(buf_slice(text), out);
    buf_clear(text);
}

void report_begin_item(struct buf *out, size_t i)
{
    buf_puts(out, i > 0 ? ",\n" : "\n");
}

void report_put_json(struct buf *out, const char *key, struct str json)
{
    if (json.n) json_raw(out, key, json);
}

void report_put_object(struct buf *out, const struct audit_object *object, char kind_end)
{
    buf_str(out, object->kind);
    buf_putc(out, kind_end);
    if (object->ns.n) {
        buf_str(out, object->ns);
        buf_putc(out, '/');
    }
    buf_str(out, object->name);
}

const char *report_mark(const struct audit_row *row)
{
    if (row->accepted) return "";
    return row->verdict == VERDICT_ERROR  ? "error"
           : row->verdict == VERDICT_WARN ? "warning"
           : row->verdict == VERDICT_SKIP ? "skipped"
                                          : "";
}

/* --- rules */

static int compare(const void *pa, const void *pb, void *ctx)
{
    const struct audit_rule *a = audit_table_rule(ctx, ((const struct rule_rows *)pa)->rule),
                            *b = audit_table_rule(ctx, ((const struct rule_rows *)pb)->rule);
    return a->severity != b->severity ? (int)b->severity - (int)a->severity : strcmp(a->id, b->id);
}

struct rule_rows *report_rules(const struct audit_table *table)
{
    size_t count = audit_table_rule_count(table), rows = audit_table_count_rows(table), n = 0;
    struct rule_rows *rules = xcalloc(count + 1, sizeof *rules);
    bool *seen = xcalloc(count + 1, sizeof *seen);
    for (size_t i = 0; i < rows; i++) {
        uint32_t rule = audit_table_row(table, i)->rule;
        if (n == 0 || rules[n - 1].rule != rule) rules[n++] = (struct rule_rows){.rule = rule, .first = i};
        rules[n - 1].end = i + 1;
        seen[rule] = true;
    }
    size_t with_rows = n;
    for (uint32_t rule = 0; rule < count; rule++)
        if (!seen[rule]) rules[n++] = (struct rule_rows){.rule = rule};
    qsort_r(rules + with_rows, n - with_rows, sizeof *rules, compare, (void *)table);
    free(seen);
    return rules;
}

/* --- Texts in markup */

static const char *escape_of(unsigned char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\n': return "&#10;"; /* attributes would turn them into blanks */
    case '\t': return "&#9;";
    case '\r': return "&#13;";
    default: return NULL;
    }
}

/* Returns whether reports must not contain the character: XML forbids it, a terminal would take it for a
 * command, or it changes the direction of a line, so that the line reads differently. */
static bool is_forbidden(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfffe || c == 0xffff;
}

void markup_put(struct buf *out, struct str text)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        uint32_t c = str_code_point((struct str){text.p + i, text.n - i}, &n);
        const char *escape = c < 0x80 ? escape_of((unsigned char)c) : NULL;
        if (escape)
            buf_puts(out, escape);
        else if (is_forbidden(c) || c == 0xfffd)
            buf_puts(out, "\xef\xbf\xbd");
        else
            buf_append(out, text.p + i, n);
    }
}

void markup_attribute(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, " %s=\"", name);
    markup_put(out, value);
    buf_putc(out, '"');
}
