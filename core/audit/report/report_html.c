/* The report as one self-contained page: it reads without JavaScript, which adds filters (audit/page/). Rows
 * are in lists of a few dozen, which a browser lays out only when they are visible, so that a hundred
 * thousand of them stay usable. All texts go through markup_put; none gets into the script. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/report/report_parts.h"
#include "base/civil.h"
#include "base/embedded_file.h"

/* A rule with at most OPEN_OF_RULE rows is open at first, until OPEN_IN_ALL rows are open. */
enum { ROWS_OF_LIST = 50, OPEN_OF_RULE = 50, OPEN_IN_ALL = 500 };

extern const struct embedded_file report_page[]; /* of audit/page/ */

struct html_page {
    const struct audit_table *table;
    const struct report_options *options;
    FILE *out;
    struct buf text;
    size_t open; /* rows that are visible at first */
};

static void put_embedded(struct html_page *p, const char *path)
{
    for (const struct embedded_file *file = report_page; file->path; file++)
        if (strcmp(file->path, path) == 0) buf_append(&p->text, file->text, file->len);
}

static void put_element(struct html_page *p, const char *begin, struct str text, const char *end)
{
    buf_puts(&p->text, begin);
    markup_put(&p->text, text);
    buf_puts(&p->text, end);
}

/* --- the head of the page */

static void put_head(struct html_page *p)
{
    struct str source = str_of(p->options->source);
    buf_puts(&p->text, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n");
    put_element(p, "<title>Audit of ", source, "</title>\n<style>\n");
    put_embedded(p, "report.css");
    put_element(p, "</style>\n</head>\n<body>\n<header>\n<h1>Audit of ", source, "</h1>\n<p class=\"soft\">");
    if (p->options->cluster) put_element(p, "cluster ", str_of(p->options->cluster), " · ");
}

static void put_total(struct html_page *p, const char *class, size_t count, const char *what)
{
    if (count == 0) return;
    buf_printf(&p->text, "<li class=\"%s\"><b>%zu</b>%s</li>\n", class, count, what);
}

static void put_suppressed(struct html_page *p, enum severity severity, size_t count)
{
    char what[32];
    snprintf(what, sizeof what, "%s suppressed", severity_name(severity));
    put_total(p, "", count, what);
}

static void put_totals(struct html_page *p)
{
    struct audit_totals totals = audit_table_totals(p->table);
    civil_put_utc(&p->text, p->options->time_s * 1000000, 0);
    if (p->options->incomplete) put_element(p, " · <strong>", str_of(p->options->incomplete), "</strong>");
    size_t rules = audit_table_rule_count(p->table);
    buf_printf(&p->text,
               " · %zu object%s, %zu rule%s · %" PRId64 ".%02" PRId64 " s</p>\n<ul class=\"totals\">\n",
               totals.audited, totals.audited == 1 ? "" : "s", rules, rules == 1 ? "" : "s",
               p->options->took_ms / 1000, p->options->took_ms % 1000 / 10);
    for (int s = SEVERITIES - 1; s >= 0; s--)
        put_total(p, severity_name((enum severity)s), totals.severities[s], severity_name((enum severity)s));
    put_total(p, "error", totals.verdicts[VERDICT_ERROR], "rule errors");
    put_total(p, "", totals.known, "known");
    put_total(p, "", totals.verdicts[VERDICT_SKIP], "skipped");
    for (int s = SEVERITIES - 1; s >= 0; s--) put_suppressed(p, (enum severity)s, totals.suppressed[s]);
    put_total(p, "", totals.verdicts[VERDICT_PASS], "passed");
    buf_puts(&p->text, "</ul>\n</header>\n");
}

/* Prints the filters, which stay hidden without JavaScript. */
static void put_filters(struct html_page *p)
{
    buf_puts(&p->text,
             "<form id=\"filter\" hidden>\n"
             "<input type=\"search\" name=\"text\" placeholder=\"Filter by text\" "
             "aria-label=\"Filter by text\">\n"
             "<select name=\"ns\" aria-label=\"Namespace\"><option value=\"\">all namespaces</option>"
             "</select>\n");
    for (int s = SEVERITIES - 1; s >= 0; s--)
        buf_printf(&p->text,
                   "<label class=\"%s\"><input type=\"checkbox\" name=\"severity\" value=\"%s\" "
                   "checked>%s</label>\n",
                   severity_name((enum severity)s), severity_name((enum severity)s),
                   severity_name((enum severity)s));
    buf_puts(&p->text, "<output id=\"shown\" class=\"soft\"></output>\n</form>\n<main>\n");
}

/* --- a row */

static void put_subject(struct html_page *p, const struct audit_object *object)
{
    put_element(p, "<li data-ns=\"", object->ns, "\">");
    put_element(p, "<div class=\"object\"><small>", object->kind, "</small> ");
    if (object->ns.n) put_element(p, "", object->ns, "/");
    put_element(p, "<strong>", object->name, "</strong></div>");
}

static void put_message(struct html_page *p, const struct audit_row *row)
{
    struct buf message = {0};
    const char *mark = report_mark(row);
    audit_row_put_message(&message, row);
    buf_puts(&p->text, "<div>");
    if (*mark)
        buf_printf(&p->text, "<em%s>%s</em> ", row->verdict == VERDICT_ERROR ? " class=\"error\"" : "", mark);
    put_element(p, "", buf_slice(&message), "</div>");
    buf_clear(&message);
}

static void put_where(struct html_page *p, const struct audit_object *object, const struct audit_row *row)
{
    const char *cluster = p->options->cluster;
    if (!row->path.n && !row->value.n && !object->file.n && !cluster) return;
    buf_puts(&p->text, "<div>");
    if (row->path.n) put_element(p, "<code>", row->path, "</code> ");
    if (row->value.n) put_element(p, "<code>", row->value, "</code> ");
    if (object->file.n) put_element(p, "<small>", object->file, "");
    if (object->file.n && object->line) buf_printf(&p->text, ":%zu", object->line);
    buf_puts(&p->text, object->file.n ? "</small>" : "");
    if (cluster) put_element(p, "<small>", str_of(cluster), "</small>");
    buf_puts(&p->text, "</div>");
}

static void put_row(struct html_page *p, const struct audit_row *row)
{
    const struct audit_object *object = audit_table_object(p->table, row->object);
    put_subject(p, object);
    put_message(p, row);
    put_where(p, object, row);
    buf_puts(&p->text, "</li>\n");
}

/* --- a rule */

static void put_advice(struct html_page *p, const struct audit_rule *rule)
{
    if (!*rule->why && !*rule->how) return;
    buf_puts(&p->text, "<div class=\"advice\">");
    if (*rule->why) put_element(p, "<p>", str_of(rule->why), "</p>");
    if (*rule->how) put_element(p, "<p><strong>What to do:</strong> ", str_of(rule->how), "</p>");
    buf_puts(&p->text, "</div>\n");
}

static void put_summary(struct html_page *p, const struct audit_rule *rule)
{
    size_t objects = 0;
    for (size_t v = 0; v < VERDICTS; v++) objects += rule->counts[v];
    put_element(p, "<summary><b>", str_of(severity_name(rule->severity)), "</b>");
    put_element(p, "<strong>", str_of(rule->id), "</strong>");
    put_element(p, "", str_of(rule->title), "");
    buf_printf(&p->text, " <small>%zu of %zu object%s</small></summary>\n",
               rule->counts[VERDICT_FAIL] + rule->counts[VERDICT_WARN], objects, objects == 1 ? "" : "s");
}

static void put_rule(struct html_page *p, const struct rule_rows *rows)
{
    const struct audit_rule *rule = audit_table_rule(p->table, rows->rule);
    const char *severity = severity_name(rule->severity);
    size_t count = rows->end - rows->first;
    bool open = count <= OPEN_OF_RULE && p->open + count <= OPEN_IN_ALL;
    if (open) p->open += count;
    buf_printf(&p->text, "<section class=\"%s\" data-severity=\"%s\"><details%s>\n", severity, severity,
               open ? " open" : "");
    put_summary(p, rule);
    put_advice(p, rule);
    for (size_t i = rows->first; i < rows->end; i++) {
        if ((i - rows->first) % ROWS_OF_LIST == 0)
            buf_puts(&p->text, i == rows->first ? "<ul class=\"rows\">\n" : "</ul>\n<ul class=\"rows\">\n");
        put_row(p, audit_table_row(p->table, i));
        report_write(&p->text, p->out);
    }
    buf_puts(&p->text, "</ul>\n</details></section>\n");
}

/* Prints the names of rules without findings. */
static void put_clean(struct html_page *p, const struct rule_rows *rules, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (rules[i].end > rules[i].first) continue;
        const struct audit_rule *rule = audit_table_rule(p->table, rules[i].rule);
        buf_puts(&p->text, any ? "" : "<h2>Rules without findings</h2>\n<ul class=\"clean\">\n");
        put_element(p, "<li><strong>", str_of(rule->id), "</strong> ");
        put_element(p, "", str_of(rule->title), "</li>\n");
        any = true;
    }
    buf_puts(&p->text, any ? "</ul>\n" : "");
}

void report_html(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    struct html_page p = {.table = table, .options = options, .out = out};
    size_t count = audit_table_rule_count(table);
    struct rule_rows *rules = report_rules(table);
    put_head(&p);
    put_totals(&p);
    put_filters(&p);
    for (size_t i = 0; i < count; i++)
        if (rules[i].end > rules[i].first) put_rule(&p, &rules[i]);
    if (audit_table_count_rows(table) == 0) buf_puts(&p.text, "<p>No findings.</p>\n");
    put_clean(&p, rules, count);
    buf_puts(&p.text, "</main>\n<footer>kubelua " KUBELUA_VERSION "</footer>\n<script>\n");
    put_embedded(&p, "report.js");
    buf_puts(&p.text, "</script>\n</body>\n</html>\n");
    report_finish(&p.text, out);
    free(rules);
}
