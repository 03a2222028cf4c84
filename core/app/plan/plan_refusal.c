/* States and metrics of files beside those that run; see plan_refusal.h. */
#include "app/plan/plan_refusal.h"

#include <stdlib.h>
#include <string.h>

#include "app/plan/plan_detail.h"
#include "base/mem.h"
#include "base/series/user_metric.h"
#include "script/inventory/metrics.h"
#include "script/view/state_table.h"

/* --- states */

static int version_of(const struct inventory_entry *state)
{
    struct str version = plan_detail_field(state->detail, "version");
    return version.n ? (int)strtol(version.p, NULL, 10) : 1;
}

bool plan_keeps_states(const struct plan_script *file, struct err *err)
{
    const struct inventory *after = file->plan, *before = file->other ? file->other->plan : NULL;
    for (size_t i = 0; before && i < after->count; i++) {
        const struct inventory_entry *state = &after->items[i];
        if (state->class != INVENTORY_STATE) continue;
        const struct inventory_entry *old = inventory_find(before, INVENTORY_STATE, str_of(state->key));
        if (!old || version_of(old) == version_of(state)) continue;
        if (plan_detail_field(state->detail, "migrate").n) continue;
        return state_table_reject_version(state, state->key, version_of(old), version_of(state), err);
    }
    return true;
}

/* --- metrics */

static enum family_kind kind_of(const struct inventory_entry *metric)
{
    struct str kind = plan_detail_field(metric->detail, "kind");
    if (str_is(kind, "\"histogram\"")) return FAMILY_HISTOGRAM;
    return str_is(kind, "\"gauge\"") ? FAMILY_GAUGE : FAMILY_COUNTER;
}

/* That of `plan` with which the metric cannot be on one page. */
static const struct inventory_entry *find_clash(const struct inventory *plan,
                                                const struct inventory_entry *metric)
{
    for (size_t i = 0; plan && i < plan->count; i++) {
        const struct inventory_entry *other = &plan->items[i];
        if (other->class != INVENTORY_METRIC) continue;
        bool same = strcmp(other->key, metric->key) == 0 && strcmp(other->detail, metric->detail) == 0;
        if (!same && user_metric_names_clash(metric->key, kind_of(metric), other->key, kind_of(other)))
            return other;
    }
    return NULL;
}

static bool fits(const struct plan_script *running, size_t running_count, const struct plan_script *files,
                 size_t at, const struct inventory_entry *metric, struct err *err)
{
    const struct inventory_entry *other;
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

bool plan_metrics_fit(const struct plan_script *running, size_t running_count,
                      const struct plan_script *files, size_t i, struct err *err)
{
    const struct inventory *plan = files[i].plan;
    for (size_t j = 0; j < plan->count; j++)
        if (plan->items[j].class == INVENTORY_METRIC &&
            !fits(running, running_count, files, i, &plan->items[j], err))
            return false;
    return true;
}

/* --- Parameters that a rule would still declare */

static const char *text_at(const struct tape *tape, size_t at, const char *field)
{
    struct str text = tape_str(tape, tape_field(tape, at, str_of(field)));
    return text.p;
}

static struct rule_param_given read_one(const struct tape *tape, size_t at)
{
    return (struct rule_param_given){.rule = text_at(tape, at, "rule"),
                                     .name = text_at(tape, at, "name"),
                                     .value = text_at(tape, at, "value"),
                                     .is_json = tape_bool(tape, tape_field(tape, at, STR("isJson")), false),
                                     .source = text_at(tape, at, "source")};
}

void plan_params_open(struct plan_params *params, const struct tape *tape, size_t list)
{
    *params = (struct plan_params){.tape = tape, .list = list, .given = rule_params_new()};
    for (size_t v = list ? tape_first(tape, list, NULL) : 0; v; v = tape_next(tape, list, v, NULL)) {
        const struct rule_param_given given = read_one(tape, v);
        if (given.name && given.value && given.source) rule_params_put(params->given, &given);
    }
}

void plan_params_clear(struct plan_params *params)
{
    rule_params_free(params->given);
    params->given = NULL;
}

/* --- who takes one */

struct question {
    const struct plan_params *params;
    size_t at; /* the parameter in the engine's answer */
    struct rule_param_given given;
    const struct plan_script *files;
    struct script *const *scripts;
    size_t count;
};

static bool runs_with_it(const struct question *q, const char *name)
{
    const struct tape *tape = q->params->tape;
    size_t list = tape_field(tape, q->at, STR("scripts"));
    for (size_t v = tape_first(tape, list, NULL); v; v = tape_next(tape, list, v, NULL))
        if (str_is(tape_str(tape, v), name)) return true;
    return false;
}

static bool is_replaced(const struct question *q, const char *name)
{
    for (size_t i = 0; i < q->count; i++)
        if (q->files[i].other && !q->files[i].error && strcmp(q->files[i].other->name, name) == 0)
            return true;
    return false;
}

/* By a file, or by a script for which no file stands. */
static bool will_be_taken(const struct question *q)
{
    const struct tape *tape = q->params->tape;
    size_t list = tape_field(tape, q->at, STR("scripts"));
    for (size_t i = 0; i < q->count; i++)
        if (q->scripts[i] && !q->files[i].error && rule_params_is_taken(&q->given, q->scripts[i]))
            return true;
    for (size_t v = tape_first(tape, list, NULL); v; v = tape_next(tape, list, v, NULL))
        if (!is_replaced(q, tape_str(tape, v).p)) return true;
    return false;
}

/* In the words of a reload. */
static bool complain(const struct question *q, size_t i, struct err *err)
{
    struct script **loaded = xcalloc(q->count + 1, sizeof(struct script *));
    struct rule_params *one = rule_params_new();
    size_t count = 0;
    for (size_t j = 0; j < q->count; j++)
        if (q->scripts[j]) loaded[count++] = q->scripts[j];
    rule_params_put(one, &q->given);
    rule_params_check(one, loaded, count, err);
    rule_params_free(one);
    free(loaded);
    return err_wrap(err, "%s", q->files[i].path);
}

bool plan_params_stay(const struct plan_params *params, const struct plan_script *files,
                      struct script *const *scripts, size_t count, size_t i, struct err *err)
{
    const struct tape *tape = params->tape;
    if (!params->list || !files[i].other) return true;
    for (size_t v = tape_first(tape, params->list, NULL); v; v = tape_next(tape, params->list, v, NULL)) {
        const struct question q = {params, v, read_one(tape, v), files, scripts, count};
        if (q.given.name && runs_with_it(&q, files[i].other->name) && !will_be_taken(&q))
            return complain(&q, i, err);
    }
    return true;
}
