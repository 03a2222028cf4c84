/* The report as PolicyReports of wgpolicyk8s.io/v1alpha2, and as Reports of openreports.io: documents for
 * kubectl, one for each namespace, and one of the cluster for objects without one. */
#include "audit/policy/policy_document.h"

#include <stdlib.h>
#include <string.h>

#include "audit/report/report_parts.h"
#include "base/mem.h"
#include "base/text/json_out.h"

enum { NAMESPACE_MAX = 63 };

struct policy_report {
    const struct policy_api *api;
    const struct audit_table *table;
    const struct report_options *options;
    FILE *out;
    struct str ns;           /* empty: of the cluster */
    size_t part;             /* number of the part of the namespace */
    size_t counts[VERDICTS]; /* of the current part */
    struct buf results, text;
};

/* Returns the namespace; "" if it is malformed, which dumps allow: such objects are in the report of the
 * cluster. */
static struct str namespace_of(const struct audit_object *object)
{
    struct str ns = object->ns;
    bool fits = ns.n > 0 && ns.n <= NAMESPACE_MAX && ns.p[0] != '-' && ns.p[ns.n - 1] != '-';
    for (size_t i = 0; fits && i < ns.n; i++)
        fits = (ns.p[i] >= 'a' && ns.p[i] <= 'z') || (ns.p[i] >= '0' && ns.p[i] <= '9') || ns.p[i] == '-';
    return fits ? ns : STR("");
}

/* --- parts */

static void write_part(struct policy_report *r)
{
    struct buf json = {0};
    const struct policy_head head = {.ns = r->ns,
                                     .name = POLICY_REPORT_NAME,
                                     .part = ++r->part,
                                     .incomplete = r->options->incomplete,
                                     .counts = r->counts};
    policy_put_document(r->api, &head, buf_slice(&r->results), &json);
    buf_puts(&r->text, "---\n");
    json_yaml(&r->text, buf_slice(&json), 0, false);
    report_write(&r->text, r->out);
    buf_clear(&json);
    r->results.len = 0;
    memset(r->counts, 0, sizeof r->counts);
}

/* Adds a result to the part; if it has no room, writes the part first. */
static void add_result(struct policy_report *r, struct buf *one, const struct audit_row *row)
{
    one->len = 0;
    policy_put_result(r->api, audit_table_rule(r->table, row->rule),
                      audit_table_object(r->table, row->object), row, r->options->time_s, one);
    if (r->results.len && r->results.len + one->len + POLICY_OVERHEAD_BYTES > POLICY_REPORT_BYTES)
        write_part(r);
    if (r->results.len) buf_putc(&r->results, ',');
    buf_str(&r->results, buf_slice(one));
    r->counts[row->verdict]++;
}

/* Begins a namespace. Each one says if findings may be missing, as its readers may see no other report. */
static void begin_namespace(struct policy_report *r, struct str ns)
{
    r->ns = ns;
    r->part = 0;
    if (!r->options->incomplete) return;
    policy_put_incomplete(str_of(r->options->incomplete), r->options->time_s, &r->results);
    r->counts[VERDICT_ERROR]++;
}

/* --- the order */

/* Compares by namespace, then by the order of the table. */
static int compare(const void *pa, const void *pb, void *ctx)
{
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    const struct audit_row *ra = audit_table_row(ctx, a), *rb = audit_table_row(ctx, b);
    int order = ra->object == rb->object ? 0
                                         : str_cmp(namespace_of(audit_table_object(ctx, ra->object)),
                                                   namespace_of(audit_table_object(ctx, rb->object)));
    return order ? order : a < b ? -1 : a > b;
}

static size_t *sorted_rows(const struct audit_table *table)
{
    size_t count = audit_table_count_rows(table), *rows = xcalloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++) rows[i] = i;
    qsort_r(rows, count, sizeof *rows, compare, (void *)table);
    return rows;
}

/* Writes YAML documents. Passes are counted in the summaries and have no results; skips without a message are
 * omitted. */
static void policy_results_write(const struct policy_api *api, const struct audit_table *table,
                                 const struct report_options *options, FILE *out)
{
    struct policy_report r = {.api = api, .table = table, .options = options, .out = out};
    size_t count = audit_table_count_rows(table), *rows = sorted_rows(table);
    struct buf one = {0};
    if (!count) begin_namespace(&r, STR("")); /* one report even without results */
    for (size_t i = 0; i < count; i++) {
        const struct audit_row *row = audit_table_row(table, rows[i]);
        struct str ns = namespace_of(audit_table_object(table, row->object));
        if (i == 0 || !str_eq(ns, r.ns)) {
            if (i > 0) write_part(&r);
            begin_namespace(&r, ns);
        }
        if (policy_has_result(row))
            add_result(&r, &one, row);
        else if (row->verdict == VERDICT_PASS)
            r.counts[VERDICT_PASS]++;
    }
    write_part(&r);
    report_finish(&r.text, out);
    buf_clear(&r.results);
    buf_clear(&one);
    free(rows);
}

void report_policy(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    policy_results_write(&policy_api_wgpolicy, table, options, out);
}

/* --- Reports of openreports.io/v1alpha1, whose configuration says that passes are not listed */

void report_openreports(const struct audit_table *table, const struct report_options *options, FILE *out)
{
    policy_results_write(&policy_api_openreports, table, options, out);
}
