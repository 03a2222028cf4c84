/* The JSON report as YAML. */
#include "audit/report/report_parts.h"
#include "base/text/json_out.h"
#include "base/text/json_yaml.h"

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
        report_put_row(&json, table, audit_table_row(table, i), true);
        buf_puts(&text, "- ");
        json_yaml(&text, buf_slice(&json), 1, true);
        report_write(&text, out);
    }
    report_finish(&text, out);
    buf_clear(&json);
}
