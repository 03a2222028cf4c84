/* Continuous audits of an engine: their scripts, when they run, and their status; see engine_internal.h. */
#include <stdlib.h>

#include "audit/continuous/continuous.h"
#include "base/fence.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text/json_out.h"
#include "engine/engine_internal.h"
#include "engine/policy_client.h"
#include "script/inventory/inventory.h"

struct engine_continuous {
    struct continuous_audit *audit;
    struct policy_client *writer; /* NULL: nothing is written to the cluster */
    struct fence *term;           /* in which it is active; a reference; NULL: there is none */
    bool logged;                  /* that there is no rule */
};

/* Its leadership by the lease of --leader-elect; NULL: it has none. */
static struct leadership *own_leadership(const struct engine *engine)
{
    for (size_t i = 0; i < leaders_count(engine->cluster->parts.leaders); i++) {
        struct leadership *leadership = leaders_at(engine->cluster->parts.leaders, i);
        if (leadership_is_of(leadership, &engine->host.lease)) return leadership;
    }
    return NULL;
}

/* Two replicas would count each finding twice. Under --dry-run there is no election. */
static bool elects(const struct engine *engine)
{
    return engine->options.settings->elects && engine->competes;
}

/* --- reports in the cluster */

static struct continuous_audit *audit_of(void *ctx)
{
    struct engine *engine = ctx;
    return engine->report->audit;
}

static struct fence *fence_of(void *ctx)
{
    struct engine *engine = ctx;
    struct leadership *leadership = elects(engine) ? own_leadership(engine) : NULL;
    return leadership ? leadership_fence(leadership) : NULL;
}

static void on_changed(void *ctx, struct str ns)
{
    struct engine *engine = ctx;
    policy_client_changed(engine->report->writer, ns);
}

static void make_writer(struct engine *engine)
{
    const struct engine_settings *settings = engine->options.settings;
    const struct policy_api *api = policy_api_of(settings->report);
    if (!api) return;
    if (engine->host.write_mode == WRITES_RECORDED) {
        log_info("Policy reports are disabled by --dry-run=client");
        return;
    }
    bool is_tried = engine->host.write_mode == WRITES_TRIED;
    if (is_tried) log_info("Policy reports are not persisted because of --dry-run=server");
    engine->report->writer =
        policy_client_new(&(const struct policy_client_options){.clock = loop_clock(engine->loop),
                                                                .live = engine->cluster->parts.live,
                                                                .api = api,
                                                                .field_manager = settings->field_manager,
                                                                .namespace_ = engine->host.default_namespace,
                                                                .is_tried = is_tried,
                                                                .audit = audit_of,
                                                                .fence = fence_of,
                                                                .ctx = engine});
}

/* --- from start to stop */

void engine_make_continuous(struct engine *engine)
{
    if (!engine->options.settings->report) return;
    engine->report = NEW(struct engine_continuous);
    engine->report->audit =
        continuous_new(&(const struct continuous_options){.clock = loop_clock(engine->loop),
                                                          .max_dependencies = CONTINUOUS_DEPENDENCIES_MAX,
                                                          .max_finding_bytes = CONTINUOUS_FINDING_BYTES_MAX,
                                                          .limits = engine->options.settings->suppression,
                                                          .changed = on_changed,
                                                          .ctx = engine});
    make_writer(engine);
    if (engine->options.settings->elects) continuous_set_active(engine->report->audit, false);
}

void engine_continuous_take(struct engine *engine, struct script *before, struct script *now)
{
    if (engine->report && !engine->ending_ms) continuous_take(engine->report->audit, before, now);
}

void engine_continuous_claims_changed(struct engine *engine)
{
    if (engine->report && !engine->ending_ms) continuous_claims_changed(engine->report->audit);
}

static bool leads(const struct engine *engine)
{
    struct leadership_status status;
    if (!elects(engine)) return true;
    struct leadership *leadership = own_leadership(engine);
    if (!leadership) return false;
    leadership_get_status(leadership, &status);
    return status.leads;
}

/* Inactive audits forget their results, which is no change to report. */
static void set_active(struct engine_continuous *report, bool active)
{
    if (!active) policy_client_set_active(report->writer, false);
    continuous_set_active(report->audit, active);
    if (active) policy_client_set_active(report->writer, true);
}

/* Its word of the end of a term may come with that of the next, if this thread was busy: another may have led
 * and written in between. */
static void end_term(struct engine_continuous *report, struct fence *next)
{
    if (report->term == next) return;
    set_active(report, false);
    fence_unref(report->term);
    report->term = next ? fence_ref(next) : NULL;
}

static void print_without_rules(struct engine_continuous *report)
{
    if (!report->logged && continuous_status(report->audit).rules == 0)
        log_warn("--report has no effect, none of the scripts has a rule (k8s.rule)");
    report->logged = true;
}

void engine_continuous_leadership(struct engine *engine)
{
    if (!engine->report || engine->ending_ms) return;
    print_without_rules(engine->report);
    end_term(engine->report, fence_of(engine));
    set_active(engine->report, leads(engine));
}

void engine_end_continuous(struct engine *engine)
{
    if (engine->report) set_active(engine->report, false);
}

void engine_free_continuous(struct engine *engine)
{
    if (!engine->report) return;
    policy_client_free(engine->report->writer);
    engine->report->writer = NULL;
    continuous_free(engine->report->audit);
    fence_unref(engine->report->term);
    free(engine->report);
    engine->report = NULL;
}

/* --- for the status */

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

void engine_put_continuous(struct engine *engine, struct buf *out)
{
    if (!engine->report) return;
    struct continuous_status status = continuous_status(engine->report->audit);
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
    continuous_each_refused(engine->report->audit, put_refused, out);
    json_close(out, ']');
    json_open(out, "byRule", '[');
    continuous_each_rule(engine->report->audit, put_rule, out);
    json_close(out, ']');
    policy_client_put(engine->report->writer, out);
    json_close(out, '}');
}
