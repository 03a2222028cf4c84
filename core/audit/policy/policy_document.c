/* Reports of policies as JSON; see policy_document.h. */
#include "audit/policy/policy_document.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit/found/secret_value.h"
#include "audit/found/table.h"
#include "base/mem.h"
#include "base/text/json_out.h"

/* The first versions of wgpolicyk8s.io know three severities, and their servers refuse a report with another:
 * the true one is among a result's properties. */
static const char *const three_severities[] = {"low", "low", "medium", "high", "high"};
static const char *const all_severities[] = {"info", "low", "medium", "high", "critical"};

const struct policy_api policy_api_wgpolicy = {.group = "wgpolicyk8s.io",
                                               .version = "v1alpha2",
                                               .kind = "PolicyReport",
                                               .cluster_kind = "ClusterPolicyReport",
                                               .plural = "policyreports",
                                               .cluster_plural = "clusterpolicyreports",
                                               .severities = three_severities};
const struct policy_api policy_api_openreports = {.group = "openreports.io",
                                                  .version = "v1alpha1",
                                                  .kind = "Report",
                                                  .cluster_kind = "ClusterReport",
                                                  .plural = "reports",
                                                  .cluster_plural = "clusterreports",
                                                  .severities = all_severities,
                                                  .filtered = true};

const struct policy_api *policy_api_of(const char *report)
{
    if (!report || strcmp(report, "metrics") == 0) return NULL;
    return strcmp(report, "openreports") == 0 ? &policy_api_openreports : &policy_api_wgpolicy;
}

/* --- results */

bool policy_has_result(const struct audit_row *row)
{
    return row->verdict > VERDICT_SKIP || (row->verdict == VERDICT_SKIP && row->message.n);
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
    json_str_unless_empty(out, "apiVersion", object->api_version);
    json_str(out, "kind", object->kind);
    json_str_unless_empty(out, "namespace", object->ns);
    json_str(out, "name", object->name);
    json_str_unless_empty(out, "uid", object->uid);
    json_str_unless_empty(out, "fieldPath", begin_of(path));
    json_close(out, '}');
    json_close(out, ']');
}

/* Who may read reports may read no Secrets by that. */
static void put_properties(struct buf *out, const struct audit_rule *rule, const struct audit_object *object,
                           const struct audit_row *row)
{
    json_open(out, "properties", '{');
    json_text(out, "severity", severity_name(rule->severity));
    bool hidden = secret_value_is_of(object) && secret_value_is_at(row->path);
    if (!hidden && row->value.n <= POLICY_MESSAGE_BYTES) json_str_unless_empty(out, "value", row->value);
    json_str_unless_empty(out, "file", object->file);
    if (object->line) {
        char line[24];
        snprintf(line, sizeof line, "%zu", object->line);
        json_text(out, "line", line);
    }
    json_close(out, '}');
}

static void put_time(struct buf *out, int64_t time_s)
{
    if (!time_s) return;
    json_open(out, "timestamp", '{');
    json_int(out, "seconds", time_s);
    json_int(out, "nanos", 0);
    json_close(out, '}');
}

static void put_message(struct buf *out, const struct audit_rule *rule, const struct audit_row *row)
{
    struct buf message = {0};
    audit_row_put_message(&message, row);
    json_str(out, "message", message.len ? begin_of(buf_slice(&message)) : str_of(rule->title));
    buf_clear(&message);
}

void policy_put_result(const struct policy_api *api, const struct audit_rule *rule,
                       const struct audit_object *object, const struct audit_row *row, int64_t time_s,
                       struct buf *out)
{
    json_open(out, NULL, '{');
    json_text(out, "source", "kubelua");
    json_str(out, "policy", policy_of(rule));
    json_text(out, "rule", rule->id);
    json_str_unless_empty(out, "category", str_of(rule->category));
    json_text(out, "severity", api->severities[rule->severity]);
    json_text(out, "result", verdict_name(row->verdict));
    json_bool(out, "scored", row->verdict != VERDICT_WARN);
    put_message(out, rule, row);
    put_resource(out, object, row->path);
    put_properties(out, rule, object, row);
    put_time(out, time_s);
    json_close(out, '}');
}

void policy_put_note(const char *rule, enum verdict verdict, struct str message, int64_t time_s,
                     struct buf *out)
{
    json_open(out, NULL, '{');
    json_text(out, "source", "kubelua");
    json_text(out, "policy", "kubelua");
    json_text(out, "rule", rule);
    json_text(out, "result", verdict_name(verdict));
    json_bool(out, "scored", false);
    json_str(out, "message", begin_of(message));
    put_time(out, time_s);
    json_close(out, '}');
}

/* --- documents */

void policy_put_name(const char *name, size_t part, struct buf *out)
{
    buf_puts(out, name);
    if (part > 1) buf_printf(out, "-%zu", part);
}

static void put_annotations(const struct policy_head *head, struct buf *out)
{
    if (!head->content && !head->incomplete) return;
    json_open(out, "annotations", '{');
    if (head->content) json_text(out, POLICY_CONTENT, head->content);
    if (head->incomplete) json_str(out, POLICY_INCOMPLETE, begin_of(str_of(head->incomplete)));
    json_close(out, '}');
}

static void put_metadata(const struct policy_head *head, struct buf *out)
{
    struct buf name = {0};
    policy_put_name(head->name, head->part, &name);
    json_open(out, "metadata", '{');
    json_str(out, "name", buf_slice(&name));
    json_str_unless_empty(out, "namespace", head->ns);
    json_open(out, "labels", '{');
    json_text(out, "app.kubernetes.io/managed-by", "kubelua");
    if (head->instance) json_text(out, "app.kubernetes.io/instance", head->instance);
    json_close(out, '}');
    put_annotations(head, out);
    json_close(out, '}');
    buf_clear(&name);
}

static void put_summary(const struct policy_head *head, struct buf *out)
{
    json_open(out, "summary", '{');
    for (int v = 0; v < VERDICTS; v++) json_int(out, verdict_name((enum verdict)v), (int64_t)head->counts[v]);
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

void policy_put_document(const struct policy_api *api, const struct policy_head *head, struct str results,
                         struct buf *out)
{
    json_open(out, NULL, '{');
    buf_printf(out, "\"apiVersion\":\"%s/%s\"", api->group, api->version);
    json_text(out, "kind", head->ns.n ? api->kind : api->cluster_kind);
    put_metadata(head, out);
    if (api->filtered) put_filter(out);
    put_summary(head, out);
    json_open(out, "results", '[');
    buf_str(out, results);
    buf_puts(out, "]}");
}
