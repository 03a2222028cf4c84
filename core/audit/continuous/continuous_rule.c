/* Results of a rule for the objects of its kinds; see continuous_internal.h. */
#include <stdlib.h>

#include "audit/continuous/continuous_internal.h"
#include "audit/found/findings.h"
#include "base/log.h"
#include "base/mem.h"
#include "object/value/value.h"

FAMILY(family_audit_results, 500, GAUGE, "kubelua_audit_results", "rule,severity,category,result", NULL,
       "Number of objects by result of a rule.");
FAMILY(family_audit_evaluations, 501, COUNTER, "kubelua_audit_evaluations_total", "rule,result", NULL,
       "Number of rule evaluations.");
FAMILY(family_audit_duration, 502, HISTOGRAM, "kubelua_audit_duration_seconds", "rule", &buckets_of_calls,
       "Duration of rule evaluations.");

/* --- metrics */

static void show(struct audited_rule *rule, enum verdict verdict)
{
    if (!rule->results[verdict])
        rule->results[verdict] =
            SERIES(&family_audit_results, rule->id, rule->severity, rule->category, verdict_name(verdict));
    series_set(rule->results[verdict], (double)rule->counts[verdict]);
}

static void count(struct audited_rule *rule, enum verdict verdict)
{
    if (!rule->evaluations[verdict])
        rule->evaluations[verdict] = SERIES(&family_audit_evaluations, rule->id, verdict_name(verdict));
    series_inc(rule->evaluations[verdict]);
}

/* --- cells */

struct result_cell *column_cell(struct column *column, uint32_t slot)
{
    return &column->cells[slot];
}

/* Fits the cells to the capacity of the source. */
void column_fit(struct column *column)
{
    size_t cap = column->source->cap;
    if (column->cap == cap) return;
    column->cells = xrealloc(column->cells, cap * sizeof *column->cells);
    for (size_t i = column->cap; i < cap; i++)
        column->cells[i] = (struct result_cell){.first_dependency = DEPENDENCY_NONE};
    column->cap = cap;
}

void column_begin(struct column *column, struct audited_rule *rule, struct object_source *source)
{
    *column = (struct column){.rule = rule, .source = source};
    column_fit(column);
    source_add_column(source, column);
}

/* Reports a change in the object's namespace. */
static void notify(const struct column *column, uint32_t slot)
{
    const struct continuous_audit *audit = column->rule->audit;
    struct text text;
    if (audit->options.changed)
        audit->options.changed(audit->options.ctx, root_namespace(column->source->objects[slot].root, &text));
}

static void drop_findings(struct continuous_audit *audit, struct result_cell *cell)
{
    audit->finding_bytes -= findings_bytes(cell->findings);
    free(cell->findings);
    cell->findings = NULL;
    if (cell->flags & CELL_LEFT_OUT) audit->left_out--;
}

void column_forget(struct column *column, uint32_t slot)
{
    struct result_cell *cell = &column->cells[slot];
    struct audited_rule *rule = column->rule;
    dependencies_drop(rule->audit->dependencies, cell->first_dependency);
    drop_findings(rule->audit, cell);
    if (cell->flags & CELL_KNOWN) {
        rule->counts[cell->verdict]--;
        show(rule, (enum verdict)cell->verdict);
        notify(column, slot);
    }
    *cell = (struct result_cell){.first_dependency = DEPENDENCY_NONE};
}

/* --- evaluation */

/* Keeps the last error. */
static void keep_error(struct audited_rule *rule, struct str message)
{
    rule->error.len = rule->error_object.len = 0;
    buf_str(&rule->error, message);
    root_key(rule->audit->evaluating, &rule->error_object);
    rule->error_us = clock_wall_us(rule->audit->options.clock);
}

/* Logs the first error only: a broken rule usually fails for every object. */
static void note_error(struct audited_rule *rule)
{
    if (rule->errors++ > 0) return;
    log_error("Rule failed; further errors of this rule are only counted", F("rule", rule->id),
              FS("object", buf_slice(&rule->error_object)), FS("error", buf_slice(&rule->error)));
}

static void on_found(void *ctx, const struct rule_finding *finding, bool accepted)
{
    const struct column *column = ctx;
    struct audited_rule *rule = column->rule;
    findings_gather(&rule->audit->gathered, finding, accepted);
    if (finding->verdict == VERDICT_ERROR && !rule->quarantined) keep_error(rule, finding->message);
}

static void on_dependency(void *ctx, size_t use, struct str value)
{
    struct audited_rule *rule = ((const struct column *)ctx)->rule;
    if (rule->untracked || rule->overflowed) return;
    if (!dependencies_note(rule->uses[use]->dependencies, value)) rule->overflowed = true;
}

/* Makes the rule untracked: any change of its caches makes all of its results stale. Its dependencies are
 * dropped at once, as other rules need the room. */
static void become_untracked(struct audited_rule *rule)
{
    rule->untracked = true;
    rule->overflowed = false;
    for (size_t i = 0; i < rule->column_count; i++)
        for (size_t slot = 0; slot < rule->columns[i].cap; slot++) {
            struct result_cell *cell = &rule->columns[i].cells[slot];
            dependencies_drop(rule->audit->dependencies, cell->first_dependency);
            cell->first_dependency = DEPENDENCY_NONE;
        }
    log_warn("Rule has too many dependencies, re-evaluating all objects on every change", F("rule", rule->id),
             FI("limit", rule->audit->options.max_dependencies), FI("everyMs", CONTINUOUS_UNTRACKED_MS));
}

/* Stores the findings; without room returns NULL and sets CELL_LEFT_OUT. */
static struct findings *keep(struct continuous_audit *audit, struct result_cell *cell)
{
    struct findings *findings = findings_new(&audit->gathered);
    size_t bytes = findings_bytes(findings);
    if (bytes <= audit->options.max_finding_bytes - audit->finding_bytes) {
        audit->finding_bytes += bytes;
        return findings;
    }
    free(findings);
    cell->flags |= CELL_LEFT_OUT;
    audit->left_out++;
    if (!audit->full_logged)
        log_warn("Findings dropped because of the memory limit, results are still counted",
                 FI("limitBytes", audit->options.max_finding_bytes));
    audit->full_logged = true;
    return NULL;
}

static void set_cell(struct column *column, uint32_t slot, const struct evaluation *evaluation)
{
    struct audited_rule *rule = column->rule;
    struct continuous_audit *audit = rule->audit;
    struct result_cell *cell = &column->cells[slot], before = *cell;
    bool was_known = before.flags & CELL_KNOWN;
    if (was_known) rule->counts[before.verdict]--;
    if (before.flags & CELL_LEFT_OUT) audit->left_out--;
    /* The old findings are subtracted before the new ones are stored: replacing must not fail for lack of
     * room. They are freed last, as they are compared below. */
    audit->finding_bytes -= findings_bytes(before.findings);
    cell->flags = CELL_FRESH | CELL_KNOWN | (evaluation->until ? CELL_UNTIL : 0) |
                  (evaluation->verdict == VERDICT_ERROR ? CELL_ERROR : 0);
    cell->verdict = (uint8_t)evaluation->verdict;
    cell->findings = keep(audit, cell);
    rule->counts[evaluation->verdict]++;
    show(rule, evaluation->verdict);
    if (was_known && before.verdict != cell->verdict) show(rule, (enum verdict)before.verdict);
    if (!was_known || before.verdict != cell->verdict || !findings_equal(before.findings, cell->findings))
        notify(column, slot);
    free(before.findings);
}

static bool is_rule(void *ctx, struct str id)
{
    const struct continuous_audit *audit = ctx;
    const struct audited_rule *rule;
    TAILQ_FOREACH (rule, &audit->rules, link)
        if (str_is(id, rule->id)) return true;
    return false;
}

static struct evaluation evaluate(struct column *column, uint32_t slot)
{
    struct audited_rule *rule = column->rule;
    struct continuous_audit *audit = rule->audit;
    const struct evaluation_sink sink = {.found = on_found, .depends_on = on_dependency, .ctx = column};
    const struct evaluation_options options = {column->source->objects[slot].root,
                                               continuous_now_s(audit),
                                               &audit->text,
                                               is_rule,
                                               audit,
                                               &audit->options.limits};
    audit->gathered.len = 0;
    audit->evaluating = options.object;
    dependencies_begin(audit->dependencies, &(const struct dependent){column, slot});
    struct evaluation evaluation = rule_evaluate(&rule->ref, &options, &sink);
    column->cells[slot].first_dependency = dependencies_end(audit->dependencies);
    return evaluation;
}

/* Turns all results of a quarantined rule into errors: nothing is known of them any more. */
static void check_quarantine(struct audited_rule *rule)
{
    if (rule->quarantined || !script_rule_is_quarantined(rule->ref.script, rule->ref.number)) return;
    rule->quarantined = true;
    audited_rule_make_stale(rule, 0);
}

static void evaluate_timed(struct column *column, uint32_t slot)
{
    struct audited_rule *rule = column->rule;
    int64_t begun_ns = clock_measure_ns();
    struct evaluation evaluation = evaluate(column, slot);
    set_cell(column, slot, &evaluation);
    if (rule->quarantined) return; /* quarantined: not called */
    series_observe(rule->duration, (double)(clock_measure_ns() - begun_ns) / 1e9);
    count(rule, evaluation.verdict);
    if (evaluation.verdict == VERDICT_ERROR) note_error(rule);
    check_quarantine(rule);
}

void column_evaluate(struct column *column, uint32_t slot)
{
    struct audited_rule *rule = column->rule;
    struct text text;
    struct result_cell *cell = &column->cells[slot];
    /* Fresh but not known: the walk counts results that are neither as missing. */
    if (!rule_takes(rule->ref.rule, root_namespace(column->source->objects[slot].root, &text))) {
        cell->flags |= CELL_FRESH;
        return;
    }
    dependencies_drop(rule->audit->dependencies, cell->first_dependency);
    cell->first_dependency = DEPENDENCY_NONE;
    evaluate_timed(column, slot);
    /* Not during the evaluation, whose dependencies are still being recorded. */
    if (rule->overflowed) become_untracked(rule);
}

/* --- rules */

static void on_lifted(void *ctx)
{
    struct audited_rule *rule = ctx;
    rule->quarantined = false;
    audited_rule_make_stale(rule, 0);
}

void audited_rule_set(struct audited_rule *rule, const struct rule_ref *ref)
{
    if (rule->ref.script) script_leave_rule(rule->ref.script, rule->ref.number);
    rule->ref = *ref;
    rule->quarantined = false;
    script_watch_rule(ref->script, ref->number, on_lifted, rule);
}

struct audited_rule *audited_rule_new(struct continuous_audit *audit, const struct rule_ref *ref,
                                      const char *code)
{
    struct audited_rule *rule = NEW(struct audited_rule);
    const struct script_rule *given = ref->rule;
    rule->audit = audit;
    audited_rule_set(rule, ref);
    rule->id = xstrdup(given->id);
    rule->code = code ? xstrdup(code) : NULL;
    rule->severity = xstrdup(severity_name(given->severity));
    rule->category = xstrdup(given->category);
    rule->columns = xcalloc(given->kind_count + 1, sizeof *rule->columns);
    rule->uses = xcalloc(given->use_count + 1, sizeof(struct dependency_watch_index *));
    rule->watches = xcalloc(given->use_count + 1, sizeof(struct watch *));
    rule->use_count = given->use_count;
    rule->duration = SERIES(&family_audit_duration, rule->id);
    TAILQ_INSERT_TAIL(&audit->rules, rule, link);
    return rule;
}

void audited_rule_forget(struct audited_rule *rule)
{
    for (size_t i = 0; i < rule->column_count; i++)
        for (uint32_t slot = 0; slot < rule->columns[i].source->used; slot++)
            if (rule->columns[i].source->objects[slot].root) column_forget(&rule->columns[i], slot);
    for (size_t v = 0; v < VERDICTS; v++) {
        series_free(rule->results[v]);
        rule->results[v] = NULL;
    }
}

void audited_rule_make_stale(struct audited_rule *rule, uint8_t flags)
{
    for (size_t i = 0; i < rule->column_count; i++) {
        struct column *column = &rule->columns[i];
        for (uint32_t slot = 0; slot < column->source->used; slot++) {
            struct result_cell *cell = &column->cells[slot];
            if (!column->source->objects[slot].root || (cell->flags & flags) != flags) continue;
            cell->flags &= (uint8_t)~CELL_FRESH;
            source_queue(column->source, slot);
        }
    }
}

void audited_rule_free(struct audited_rule *rule)
{
    script_leave_rule(rule->ref.script, rule->ref.number);
    audited_rule_forget(rule);
    for (size_t i = 0; i < rule->column_count; i++) {
        source_remove_column(rule->columns[i].source, &rule->columns[i]);
        free(rule->columns[i].cells);
    }
    for (size_t v = 0; v < VERDICTS; v++) series_free(rule->evaluations[v]);
    series_free(rule->duration);
    TAILQ_REMOVE(&rule->audit->rules, rule, link);
    free(rule->columns);
    free(rule->uses);
    free(rule->watches);
    buf_clear(&rule->error);
    buf_clear(&rule->error_object);
    free(rule->id);
    free(rule->code);
    free(rule->severity);
    free(rule->category);
    free(rule);
}
