/* Continuous audits of an engine: their scripts, and when they run; see engine_internal.h. */
#include <stdio.h>
#include <stdlib.h>

#include "audit/continuous/continuous.h"
#include "base/fence.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/engine_internal.h"
#include "engine/policy_client.h"

struct engine_continuous {
    struct continuous_audit *audit;
    struct policy_client *writer; /* NULL: nothing is written to the cluster */
    struct fence *term;           /* in which it is active; a reference; NULL: there is none */
    bool logged;                  /* that there is no rule */
};

/* Returns the leadership by the lease of the host; NULL: there is none. */
static struct leadership *own_leadership(const struct engine *engine)
{
    for (size_t i = 0; i < leaders_count(engine->cluster->parts.leaders); i++) {
        struct leadership *leadership = leaders_at(engine->cluster->parts.leaders, i);
        if (leadership_is_of(leadership, &engine->host.lease)) return leadership;
    }
    return NULL;
}

/* Two replicas would count each finding twice. A dry run takes part in no election. */
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
    char message[ENGINE_MESSAGE_MAX];
    bool is_recorded = engine->host.write_mode == WRITES_RECORDED;
    bool is_tried = engine->host.write_mode == WRITES_TRIED;
    snprintf(message, sizeof message,
             is_recorded ? "Policy reports are disabled by %s"
                         : "Policy reports are not persisted because of %s",
             is_recorded ? engine->names->recorded : engine->names->tried);
    if (is_recorded || is_tried) log_info(message);
    if (is_recorded) return;
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

static void warn_without_rules(const struct engine *engine)
{
    char message[ENGINE_MESSAGE_MAX];
    struct engine_continuous *report = engine->report;
    snprintf(message, sizeof message, "%s has no effect, none of the scripts has a rule (k8s.rule)",
             engine->names->report);
    if (!report->logged && continuous_status(report->audit).rules == 0) log_warn(message);
    report->logged = true;
}

void engine_continuous_leadership(struct engine *engine)
{
    if (!engine->report || engine->ending_ms) return;
    warn_without_rules(engine);
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

struct continuous_audit *engine_continuous(const struct engine *engine)
{
    return engine->report ? engine->report->audit : NULL;
}

const struct policy_client *engine_policy_reports(const struct engine *engine)
{
    return engine->report ? engine->report->writer : NULL;
}
