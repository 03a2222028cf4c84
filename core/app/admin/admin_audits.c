/* Status of continuous audits and of their reports in the cluster for the admin socket; see admin_engine.h.
 */
#include "app/admin/admin_engine.h"

#include "audit/continuous/continuous.h"
#include "base/text/json_out.h"
#include "engine/engine_view.h"
#include "engine/policy_client.h"
#include "script/inventory/inventory.h"
#include "script/rules/rule.h"

static void put_verdicts(const size_t *verdicts, struct buf *out)
{
    json_open(out, "results", '{');
    for (int v = 0; v < VERDICTS; v++) json_int(out, verdict_name((enum verdict)v), (int64_t)verdicts[v]);
    json_close(out, '}');
}

/* Uses the place of the rule: errors that are not strings, and memory errors, have none. */
static void put_error(const struct continuous_rule_status *status, struct buf *out)
{
    json_open(out, "lastError", '{');
    json_text(out, "message", status->error);
    json_text(out, "object", status->error_object);
    json_time(out, "time", status->error_us);
    json_close(out, '}');
}

static void put_rule(void *ctx, const struct continuous_rule_status *status)
{
    struct buf *out = ctx;
    const struct rule_ref *ref = status->ref;
    const struct inventory_entry *place = script_rule_place(ref->script, ref->number);
    json_open(out, NULL, '{');
    json_text(out, "id", ref->rule->id);
    json_text(out, "script", script_name(ref->script));
    json_text(out, "file", place && place->file ? place->file : script_path(ref->script));
    json_int(out, "line", place ? place->line : 0);
    json_text(out, "severity", severity_name(ref->rule->severity));
    json_text(out, "category", ref->rule->category);
    json_bool(out, "waiting", status->waits);
    json_bool(out, "coarse", status->untracked);
    json_bool(out, "quarantined", status->quarantined);
    if (status->incomplete) json_bool(out, "torn", true);
    if (*status->lacks) json_text(out, "lacks", status->lacks);
    json_bool(out, "asked", !status->duplicate_rule && !status->not_evaluated);
    if (status->duplicate_rule) json_text(out, "twin", status->duplicate_rule);
    put_verdicts(status->verdicts, out);
    json_int(out, "errors", (int64_t)status->errors);
    if (status->errors) put_error(status, out);
    json_close(out, '}');
}

static void put_refused(void *ctx, const char *kind, const char *text)
{
    json_text(ctx, NULL, text);
}

static void put_reports(const struct policy_client *client, struct buf *out)
{
    struct policy_writer_status status = policy_client_status(client);
    json_open(out, "reports", '{');
    json_text(out, "kind", policy_client_kind(client));
    json_bool(out, "begun", status.begun);
    if (policy_client_is_tried(client)) json_bool(out, "dryRun", true);
    json_int(out, "reports", (int64_t)status.reports);
    json_int(out, "waiting", (int64_t)status.waiting);
    json_int(out, "namespacesLeftOut", (int64_t)status.left_out);
    json_int(out, "written", (int64_t)status.written);
    json_int(out, "deleted", (int64_t)status.deleted);
    json_int(out, "failed", (int64_t)status.failed);
    json_text(out, "incomplete", status.incomplete);
    json_text(out, "error", status.error);
    json_close(out, '}');
}

void admin_put_continuous(const struct admin_engine *admin, struct buf *out)
{
    const struct continuous_audit *audit = engine_continuous(admin->engine);
    const struct policy_client *reports = engine_policy_reports(admin->engine);
    if (!audit) return;
    struct continuous_status status = continuous_status(audit);
    json_open(out, "audit", '{');
    json_bool(out, "active", status.active);
    json_int(out, "rules", (int64_t)status.rules);
    json_int(out, "waitingRules", (int64_t)status.waiting_rules);
    json_int(out, "coarseRules", (int64_t)status.untracked_rules);
    json_int(out, "lackingRules", (int64_t)status.lacking_rules);
    json_int(out, "tornRules", (int64_t)status.incomplete_rules);
    json_int(out, "twinRules", (int64_t)status.duplicate_rules);
    json_int(out, "quarantinedRules", (int64_t)status.quarantined_rules);
    json_int(out, "objects", (int64_t)status.objects);
    json_int(out, "pending", (int64_t)status.pending);
    json_int(out, "lookups", (int64_t)status.dependencies);
    json_int(out, "memoryBytes", (int64_t)status.bytes);
    json_int(out, "findingsLeftOut", (int64_t)status.left_out);
    put_verdicts(status.verdicts, out);
    json_open(out, "refused", '[');
    continuous_each_refused(audit, put_refused, out);
    json_close(out, ']');
    json_open(out, "byRule", '[');
    continuous_each_rule(audit, put_rule, out);
    json_close(out, ']');
    if (reports) put_reports(reports, out);
    json_close(out, '}');
}
