/* The report as JUnit XML for CI systems: a suite for each rule, a case for each object, whose findings are
 * its failures. */
#include <inttypes.h>
#include <stdlib.h>

#include "audit/report/report_parts.h"
#include "base/civil.h"

/* Numbers of test cases by their outcome. */
struct cases {
    size_t tests, failures, errors, skipped;
};

static size_t end_of_case(const struct audit_table *table, size_t first, size_t end)
{
    uint32_t object = audit_table_row(table, first)->object;
    while (first < end && audit_table_row(table, first)->object == object) first++;
    return first;
}

static struct cases count(const struct audit_table *table, const struct rule_rows *rows)
{
    struct cases cases = {0};
    for (size_t first = rows->first, end; first < rows->end; first = end) {
        end = end_of_case(table, first, rows->end);
        enum verdict verdict = audit_table_worst(table, first, end);
        cases.tests++;
        cases.errors += verdict == VERDICT_ERROR;
        cases.failures += verdict == VERDICT_FAIL || verdict == VERDICT_WARN;
        cases.skipped += verdict == VERDICT_SKIP;
    }
    return cases;
}

/* --- a case */

static void put_place(struct buf *out, const struct audit_object *object)
{
    if (!object->file.n) return;
    markup_put(out, object->file);
    if (object->line) buf_printf(out, ":%zu", object->line);
    buf_putc(out, '\n');
}

/* Appends the details of a case. */
static void put_details(struct buf *out, const struct audit_rule *rule, const struct audit_object *object,
                        const struct audit_row *row)
{
    struct buf message = {0};
    audit_row_put_message(&message, row);
    markup_put(out, buf_slice(&message));
    buf_clear(&message);
    buf_putc(out, '\n');
    if (row->path.n) {
        markup_put(out, row->path);
        buf_puts(out, row->value.n ? ": " : "\n");
    }
    if (row->value.n) {
        markup_put(out, row->value);
        buf_putc(out, '\n');
    }
    put_place(out, object);
    if (*rule->how && row->verdict != VERDICT_ERROR) {
        buf_puts(out, "What to do: ");
        markup_put(out, str_of(rule->how));
        buf_putc(out, '\n');
    }
}

static void put_message(struct buf *out, const struct audit_row *row)
{
    struct buf message = {0};
    audit_row_put_message(&message, row);
    markup_attribute(out, "message", buf_slice(&message));
    buf_clear(&message);
}

/* Appends the skip of a case, which has one at most. */
static void put_skipped(struct buf *out, const struct audit_table *table, size_t first, size_t end)
{
    struct buf message = {0};
    for (size_t i = first; i < end; i++) {
        if (i > first) buf_putc(&message, '\n');
        audit_row_put_message(&message, audit_table_row(table, i));
    }
    buf_puts(out, "<skipped");
    markup_attribute(out, "message", buf_slice(&message));
    buf_puts(out, "/>\n");
    buf_clear(&message);
}

static void put_outcome(struct buf *out, const struct audit_rule *rule, const struct audit_object *object,
                        const struct audit_row *row)
{
    const char *tag = row->verdict == VERDICT_ERROR ? "error" : "failure";
    buf_printf(out, "<%s", tag);
    put_message(out, row);
    const char *type = row->verdict == VERDICT_FAIL   ? severity_name(rule->severity)
                       : row->verdict == VERDICT_WARN ? "warning"
                                                      : "error";
    markup_attribute(out, "type", str_of(type));
    buf_putc(out, '>');
    put_details(out, rule, object, row);
    buf_printf(out, "</%s>\n", tag);
}

static void put_case(struct buf *out, const struct audit_table *table, size_t first, size_t end)
{
    const struct audit_row *row = audit_table_row(table, first);
    const struct audit_rule *rule = audit_table_rule(table, row->rule);
    const struct audit_object *object = audit_table_object(table, row->object);
    struct buf name = {0};
    report_put_object(&name, object, ' ');
    buf_puts(out, "<testcase");
    markup_attribute(out, "name", buf_slice(&name));
    markup_attribute(out, "classname", str_of(rule->id));
    if (object->file.n) markup_attribute(out, "file", object->file);
    if (object->line) buf_printf(out, " line=\"%zu\"", object->line);
    buf_clear(&name);
    enum verdict verdict = audit_table_worst(table, first, end);
    if (verdict == VERDICT_PASS) {
        buf_puts(out, "/>\n");
        return;
    }
    buf_puts(out, ">\n");
    if (verdict == VERDICT_SKIP) put_skipped(out, table, first, end);
    for (size_t i = first; i < end; i++)
        if (audit_table_row(table, i)->verdict > VERDICT_SKIP)
            put_outcome(out, rule, object, audit_table_row(table, i));
    buf_puts(out, "</testcase>\n");
}

/* --- suites */

static void put_cases(struct buf *out, const struct cases *cases)
{
    buf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", cases->tests,
               cases->failures, cases->errors, cases->skipped);
}

static void put_property(struct buf *out, const char *name, const char *value)
{
    if (!*value) return;
    buf_printf(out, "<property name=\"%s\"", name);
    markup_attribute(out, "value", str_of(value));
    buf_puts(out, "/>\n");
}

static void put_suite(struct buf *text, const struct audit_table *table, const struct rule_rows *rows,
                      FILE *out)
{
    const struct audit_rule *rule = audit_table_rule(table, rows->rule);
    struct cases cases = count(table, rows);
    buf_puts(text, "<testsuite");
    markup_attribute(text, "name", str_of(rule->id));
    put_cases(text, &cases);
    buf_puts(text, ">\n<properties>\n");
    put_property(text, "title", rule->title);
    put_property(text, "severity", severity_name(rule->severity));
    put_property(text, "category", rule->category);
    put_property(text, "why", rule->why);
    put_property(text, "how", rule->how);
    buf_puts(text, "</properties>\n");
    for (size_t first = rows->first, end; first < rows->end; first = end) {
        end = end_of_case(table, first, rows->end);
        put_case(text, table, first, end);
        report_write(text, out);
    }
    buf_puts(text, "</testsuite>\n");
}

/* Adds a failed case, as CI that counts only failures must not take an incomplete audit for a success. */
static void put_incomplete(struct buf *text, const char *why)
{
    buf_puts(text,
             "<testsuite name=\"kubelua audit\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
             "<testcase name=\"the audit is complete\" classname=\"kubelua audit\">\n<error");
    markup_attribute(text, "message", str_of(why));
    buf_puts(text, " type=\"error\"/>\n</testcase>\n</testsuite>\n");
}

void report_junit(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    struct buf text = {0};
    struct cases all = {0};
    struct rule_rows *rules = report_rules(table);
    size_t n = audit_table_rule_count(table);
    for (size_t i = 0; i < n; i++) {
        struct cases cases = count(table, &rules[i]);
        all.tests += cases.tests;
        all.failures += cases.failures;
        all.errors += cases.errors;
        all.skipped += cases.skipped;
    }
    all.tests += options->incomplete != NULL;
    all.errors += options->incomplete != NULL;
    buf_puts(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kubelua audit\"");
    put_cases(&text, &all);
    buf_printf(&text, " time=\"%" PRId64 ".%03d\" timestamp=\"", options->took_ms / 1000,
               (int)(options->took_ms % 1000));
    civil_put_utc(&text, options->time_s * 1000000, 0);
    buf_puts(&text, "\">\n");
    for (size_t i = 0; i < n; i++) put_suite(&text, table, &rules[i], out);
    if (options->incomplete) put_incomplete(&text, options->incomplete);
    buf_puts(&text, "</testsuites>\n");
    report_finish(&text, out);
    free(rules);
}
