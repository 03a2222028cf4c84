/* States and metrics of files beside those that run; see plan_refusal.h. */
#include "app/plan/plan_refusal.h"

#include <stdlib.h>
#include <string.h>

#include "app/plan/plan_detail.h"
#include "base/series/user_metric.h"
#include "script/inventory/metrics.h"
#include "script/view/kept.h"

/* --- states */

static int version_of(const struct plan_entry *state)
{
    struct str version = plan_detail_field(state->detail, "version");
    return version.n ? (int)strtol(version.p, NULL, 10) : 1;
}

bool plan_keeps_states(const struct planned *file, struct err *err)
{
    const struct plan *after = file->plan, *before = file->other ? file->other->plan : NULL;
    for (size_t i = 0; before && i < after->count; i++) {
        const struct plan_entry *state = &after->items[i];
        if (state->class != PLAN_STATE) continue;
        const struct plan_entry *old = plan_find(before, PLAN_STATE, str_of(state->key));
        if (!old || version_of(old) == version_of(state)) continue;
        if (plan_detail_field(state->detail, "migrate").n) continue;
        return kept_refuse_version(state, state->key, version_of(old), version_of(state), err);
    }
    return true;
}

/* --- metrics */

static enum family_kind kind_of(const struct plan_entry *metric)
{
    struct str kind = plan_detail_field(metric->detail, "kind");
    if (str_is(kind, "\"histogram\"")) return FAMILY_HISTOGRAM;
    return str_is(kind, "\"gauge\"") ? FAMILY_GAUGE : FAMILY_COUNTER;
}

/* That of `plan` with which the metric cannot be on one page. */
static const struct plan_entry *find_clash(const struct plan *plan, const struct plan_entry *metric)
{
    for (size_t i = 0; plan && i < plan->count; i++) {
        const struct plan_entry *other = &plan->items[i];
        if (other->class != PLAN_METRIC) continue;
        bool same = strcmp(other->key, metric->key) == 0 && strcmp(other->detail, metric->detail) == 0;
        if (!same && user_metric_names_clash(metric->key, kind_of(metric), other->key, kind_of(other)))
            return other;
    }
    return NULL;
}

static bool fits(const struct planned *running, size_t running_count, const struct planned *files, size_t at,
                 const struct plan_entry *metric, struct err *err)
{
    const struct plan_entry *other;
    for (size_t i = 0; i < running_count; i++) {
        other = &running[i] == files[at].other ? NULL : find_clash(running[i].plan, metric);
        if (!other) continue;
        user_metric_refuse(metric->key, other->key, running[i].name, err);
        return metrics_refuse(files[at].plan, metric->key, err);
    }
    for (size_t i = 0; i < at; i++) {
        other = files[i].error ? NULL : find_clash(files[i].plan, metric);
        if (!other) continue;
        user_metric_refuse(metric->key, other->key, files[i].name, err);
        return metrics_refuse(files[at].plan, metric->key, err);
    }
    return true;
}

bool plan_metrics_fit(const struct planned *running, size_t running_count, const struct planned *files,
                      size_t i, struct err *err)
{
    const struct plan *plan = files[i].plan;
    for (size_t j = 0; j < plan->count; j++)
        if (plan->items[j].class == PLAN_METRIC &&
            !fits(running, running_count, files, i, &plan->items[j], err))
            return false;
    return true;
}
