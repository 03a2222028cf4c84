/* The report for programs and for --baseline: a summary, and a line for each finding. */

#include "audit/found/finding_key.h"
#include "audit/report/report_parts.h"
#include "base/text/json_out.h"

static void put_severities(struct buf *out, const char *key, const size_t counts[SEVERITIES])
{
    json_open(out, key, '{');
    for (int s = 0; s < SEVERITIES; s++) json_int(out, severity_name((enum severity)s), (int64_t)counts[s]);
    json_close(out, '}');
}

/* `results` are one for each object and rule; findings are the lines of the report. */
static void put_counts(struct buf *out, const struct audit_totals *totals)
{
    json_open(out, "findings", '{');
    json_int(out, "warn", (int64_t)totals->rows[VERDICT_WARN]);
    json_int(out, "fail", (int64_t)totals->rows[VERDICT_FAIL]);
    json_close(out, '}');
    json_open(out, "results", '{');
    for (int v = 0; v < VERDICTS; v++)
        json_int(out, verdict_name((enum verdict)v), (int64_t)totals->verdicts[v]);
    json_close(out, '}');
    put_severities(out, "severities", totals->severities);
    put_severities(out, "suppressed", totals->suppressed);
}

static void put_not_evaluated(struct buf *out, const struct audit_table *table)
{
    bool any = false;
    for (uint32_t i = 0; i < audit_table_rule_count(table); i++) {
        const struct audit_rule *rule = audit_table_rule(table, i);
        if (!rule->not_evaluated.n) continue;
        if (!any) json_open(out, "notAsked", '[');
        any = true;
        json_open(out, NULL, '{');
        json_text(out, "rule", rule->id);
        json_str(out, "reason", rule->not_evaluated);
        json_close(out, '}');
    }
    if (any) json_close(out, ']');
}

/* Objects that rules skipped: the results list only those with a reason, as there may be very many. */
static void put_skipped(struct buf *out, const struct audit_table *table)
{
    bool any = false;
    for (uint32_t i = 0; i < audit_table_rule_count(table); i++) {
        const struct audit_rule *rule = audit_table_rule(table, i);
        if (!rule->counts[VERDICT_SKIP]) continue;
        if (!any) json_open(out, "skipped", '[');
        any = true;
        json_open(out, NULL, '{');
        json_text(out, "rule", rule->id);
        json_int(out, "objects", (int64_t)rule->counts[VERDICT_SKIP]);
        json_close(out, '}');
    }
    if (any) json_close(out, ']');
}

static void report_put_summary(struct buf *out, const struct audit_table *table,
                               const struct report_options *options)
{
    struct audit_totals totals = audit_table_totals(table);
    json_open(out, "summary", '{');
    json_text(out, "source", options->source);
    if (options->cluster) json_text(out, "cluster", options->cluster);
    json_time(out, "time", options->time_s * 1000000);
    json_int(out, "milliseconds", options->took_ms);
    json_int(out, "rules", (int64_t)audit_table_rule_count(table));
    json_int(out, "objects", (int64_t)totals.audited);
    if (totals.unmatched) json_int(out, "unlooked", (int64_t)totals.unmatched);
    if (totals.elsewhere) json_int(out, "elsewhere", (int64_t)totals.elsewhere);
    if (totals.foreign) json_int(out, "foreign", (int64_t)totals.foreign);
    json_bool(out, "complete", !options->incomplete && totals.verdicts[VERDICT_ERROR] == 0);
    json_int(out, "evaluations", (int64_t)totals.evaluated);
    if (totals.known) json_int(out, "known", (int64_t)totals.known);
    put_not_evaluated(out, table);
    put_skipped(out, table);
    put_counts(out, &totals);
    json_close(out, '}');
}

static void put_fingerprint(struct buf *out, const struct audit_rule *rule, const struct audit_object *object,
                            const struct audit_row *row)
{
    char fingerprint[FINDING_KEY_SIZE];
    if (row->verdict != VERDICT_WARN && row->verdict != VERDICT_FAIL && !row->accepted) return;
    finding_key(rule, object, row, fingerprint);
    json_text(out, "fingerprint", fingerprint);
}

void report_put_row(struct buf *out, const struct audit_table *table, const struct audit_row *row, bool named,
                    const char *cluster)
{
    const struct audit_rule *rule = audit_table_rule(table, row->rule);
    const struct audit_object *object = audit_table_object(table, row->object);
    json_open(out, NULL, '{');
    json_text(out, "rule", rule->id);
    json_text(out, "severity", severity_name(rule->severity));
    json_str_unless_empty(out, "category", str_of(rule->category));
    json_text(out, "result", verdict_name(row->verdict));
    if (cluster) json_text(out, "cluster", cluster);
    json_str(out, "apiVersion", object->api_version);
    json_str(out, "kind", object->kind);
    json_str_unless_empty(out, "namespace", object->ns);
    json_str(out, "name", object->name);
    json_str_unless_empty(out, "message", row->message);
    json_str_unless_empty(out, "reason", row->reason);
    json_str_unless_empty(out, "path", row->path);
    report_put_json(out, "value", row->value);
    report_put_json(out, "fix", row->fix);
    if (row->fix_type) json_text(out, "fixType", row->fix_type);
    if (named) put_fingerprint(out, rule, object, row);
    json_str_unless_empty(out, "file", object->file);
    if (object->line) json_int(out, "line", (int64_t)object->line);
    json_close(out, '}');
}

void report_json(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    struct buf text = {0};
    size_t count = audit_table_count_rows(table);
    json_open(&text, NULL, '{');
    report_put_summary(&text, table, options);
    json_open(&text, "results", '[');
    for (size_t i = 0; i < count; i++) {
        report_begin_item(&text, i);
        report_put_row(&text, table, audit_table_row(table, i), true, options->cluster);
        report_write(&text, out);
    }
    buf_puts(&text, "\n]}\n");
    report_finish(&text, out);
}

/* --- The JSON report as YAML */

void report_yaml(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    struct buf json = {0}, text = {0};
    size_t count = audit_table_count_rows(table);
    json_open(&json, NULL, '{');
    report_put_summary(&json, table, options);
    json_close(&json, '}');
    json_yaml(&text, buf_slice(&json), 0, false);
    buf_puts(&text, count > 0 ? "results:\n" : "results: []\n");
    for (size_t i = 0; i < count; i++) {
        json.len = 0;
        report_put_row(&json, table, audit_table_row(table, i), true, options->cluster);
        buf_puts(&text, "- ");
        json_yaml(&text, buf_slice(&json), 1, true);
        report_write(&text, out);
    }
    report_finish(&text, out);
    buf_clear(&json);
}
