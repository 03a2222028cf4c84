/* Reports of policies; see policy_results.h. */
#include "audit/policy_results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/report_parts.h"
#include "base/json_out.h"
#include "base/json_yaml.h"
#include "base/mem.h"

enum { NAMESPACE_MAX = 63 };

struct policy_report {
    const struct policy_api *api;
    const struct audit_table *table;
    const struct report_options *options;
    FILE *out;
    struct str ns;           /* empty: of the cluster */
    size_t part;             /* of this namespace */
    size_t counts[VERDICTS]; /* of the part under way */
    struct buf results, text;
};

/* --- results */

/* A dump may hold anything; what is no namespace has no place but in the report of the cluster. */
static struct str namespace_of(const struct audit_object *object)
{
    struct str ns = object->ns;
    bool fits = ns.n > 0 && ns.n <= NAMESPACE_MAX && ns.p[0] != '-' && ns.p[ns.n - 1] != '-';
    for (size_t i = 0; fits && i < ns.n; i++)
        fits = (ns.p[i] >= 'a' && ns.p[i] <= 'z') || (ns.p[i] >= '0' && ns.p[i] <= '9') || ns.p[i] == '-';
    return fits ? ns : STR("");
}

/* "scripts/rules/images.lua" is the policy "images". */
static struct str policy_of(const struct audit_rule *rule)
{
    const char *slash = strrchr(rule->file, '/');
    struct str name = str_of(slash ? slash + 1 : rule->file);
    if (str_ends(name, STR(".lua"))) name.n -= strlen(".lua");
    return name.n ? name : str_of(rule->id);
}

/* The whole characters of its first bytes. */
static struct str begin_of(struct str text)
{
    if (text.n <= POLICY_MESSAGE_BYTES) return text;
    text.n = POLICY_MESSAGE_BYTES;
    while (text.n && (text.p[text.n] & 0xc0) == 0x80) text.n--;
    return text;
}

static void put_resource(struct buf *out, const struct audit_object *object, struct str path)
{
    json_open(out, "resources", '[');
    json_open(out, NULL, '{');
    report_put_text(out, "apiVersion", object->api_version);
    json_str(out, "kind", object->kind);
    report_put_text(out, "namespace", object->ns);
    json_str(out, "name", object->name);
    report_put_text(out, "uid", object->uid);
    report_put_text(out, "fieldPath", begin_of(path));
    json_close(out, '}');
    json_close(out, ']');
}

static void put_properties(struct buf *out, const struct audit_rule *rule, const struct audit_object *object,
                           const struct audit_row *row)
{
    json_open(out, "properties", '{');
    json_text(out, "severity", severity_name(rule->severity));
    if (row->value.n <= POLICY_MESSAGE_BYTES) report_put_text(out, "value", row->value);
    report_put_text(out, "file", object->file);
    if (object->line) {
        char line[24];
        snprintf(line, sizeof line, "%zu", object->line);
        json_text(out, "line", line);
    }
    json_close(out, '}');
}

static void put_result(const struct policy_report *r, struct buf *out, const struct audit_row *row)
{
    const struct audit_rule *rule = audit_table_rule(r->table, row->rule);
    const struct audit_object *object = audit_table_object(r->table, row->object);
    json_open(out, NULL, '{');
    json_text(out, "source", "kubelua");
    json_str(out, "policy", policy_of(rule));
    json_text(out, "rule", rule->id);
    report_put_text(out, "category", str_of(rule->category));
    json_text(out, "severity", r->api->severities[rule->severity]);
    json_text(out, "result", verdict_name(row->verdict));
    json_bool(out, "scored", row->verdict != VERDICT_WARN);
    json_str(out, "message", row->message.n ? begin_of(row->message) : str_of(rule->title));
    put_resource(out, object, row->path);
    put_properties(out, rule, object, row);
    json_open(out, "timestamp", '{');
    json_int(out, "seconds", r->options->time_s);
    json_int(out, "nanos", 0);
    json_close(out, '}');
    json_close(out, '}');
}

/* --- reports */

static void put_metadata(const struct policy_report *r, struct buf *out)
{
    struct buf name = {0};
    buf_puts(&name, POLICY_REPORT_NAME);
    if (r->part > 1) buf_printf(&name, "-%zu", r->part);
    json_open(out, "metadata", '{');
    json_str(out, "name", buf_slice(&name));
    report_put_text(out, "namespace", r->ns);
    json_open(out, "labels", '{');
    json_text(out, "app.kubernetes.io/managed-by", "kubelua");
    json_close(out, '}');
    json_close(out, '}');
    buf_clear(&name);
}

static void put_summary(const struct policy_report *r, struct buf *out)
{
    json_open(out, "summary", '{');
    for (int v = 0; v < VERDICTS; v++) json_int(out, verdict_name((enum verdict)v), (int64_t)r->counts[v]);
    json_close(out, '}');
}

static void put_filter(struct buf *out)
{
    json_open(out, "configuration", '{');
    json_open(out, "limits", '{');
    json_open(out, "statusFilter", '[');
    for (int v = VERDICT_PASS + 1; v < VERDICTS; v++) json_text(out, NULL, verdict_name((enum verdict)v));
    json_close(out, ']');
    json_close(out, '}');
    json_close(out, '}');
}

static void write_part(struct policy_report *r)
{
    struct buf json = {0};
    r->part++;
    json_open(&json, NULL, '{');
    json_text(&json, "apiVersion", r->api->api_version);
    json_text(&json, "kind", r->ns.n ? r->api->kind : r->api->cluster_kind);
    put_metadata(r, &json);
    if (r->api->filtered) put_filter(&json);
    put_summary(r, &json);
    json_open(&json, "results", '[');
    buf_str(&json, buf_slice(&r->results));
    buf_puts(&json, "]}");
    buf_puts(&r->text, "---\n");
    json_yaml(&r->text, buf_slice(&json), 0, false);
    report_write(&r->text, r->out);
    buf_clear(&json);
    r->results.len = 0;
    memset(r->counts, 0, sizeof r->counts);
}

/* Comma and all, if the part has room for it; else a part is written before. */
static void add_result(struct policy_report *r, struct buf *one, const struct audit_row *row)
{
    enum { ROOM_FOR_REST = 2 << 10 };
    one->len = 0;
    put_result(r, one, row);
    if (r->results.len && r->results.len + one->len + ROOM_FOR_REST > POLICY_REPORT_BYTES) write_part(r);
    if (r->results.len) buf_putc(&r->results, ',');
    buf_str(&r->results, buf_slice(one));
}

/* --- the order */

/* By namespace, and else as the table has them. */
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

/* Who skips without a word has nothing to tell: it is counted, as a pass is. */
static bool has_result(const struct audit_row *row)
{
    return row->verdict > VERDICT_SKIP || (row->verdict == VERDICT_SKIP && row->message.n);
}

static void begin_namespace(struct policy_report *r, struct str ns)
{
    r->ns = ns;
    r->part = 0;
}

void policy_results_write(const struct policy_api *api, const struct audit_table *table,
                          const struct report_options *options, FILE *out)
{
    struct policy_report r = {.api = api, .table = table, .options = options, .out = out, .ns = STR("")};
    size_t count = audit_table_count_rows(table), *rows = sorted_rows(table);
    struct buf one = {0};
    for (size_t i = 0; i < count; i++) {
        const struct audit_row *row = audit_table_row(table, rows[i]);
        struct str ns = namespace_of(audit_table_object(table, row->object));
        if (i == 0 || !str_eq(ns, r.ns)) {
            if (i > 0) write_part(&r);
            begin_namespace(&r, ns);
        }
        if (has_result(row)) add_result(&r, &one, row);
        r.counts[row->verdict]++;
    }
    write_part(&r); /* of an audit without rows one that says so */
    report_finish(&r.text, out);
    buf_clear(&r.results);
    buf_clear(&one);
    free(rows);
}
