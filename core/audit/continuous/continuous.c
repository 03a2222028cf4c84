/* Queue of objects to evaluate, and the slices in which that happens; see continuous.h. */
#include "audit/continuous/continuous.h"

#include <stdlib.h>

#include "audit/continuous/continuous_internal.h"
#include "audit/found/findings.h"
#include "base/civil.h"
#include "base/mem.h"
#include "base/must.h"
#include "informer/store/indexer.h"
#include "script/caches/index_function.h"

FAMILY(family_audit_pending, 503, GAUGE, "kubelua_audit_pending", "", NULL,
       "Number of objects waiting for evaluation.");
FAMILY(family_audit_left_out, 504, GAUGE, "kubelua_audit_findings_left_out", "", NULL,
       "Number of results whose findings were dropped because of the memory limit.");

enum {
    /* A slice is short beside the 50 ms of a turn of scripts: an audit must not delay events noticeably. */
    SLICE_NS = 4000000,
    READY_MS = 100,
    REST_MS = 10,           /* between two looks at scripts that rest */
    CLOCK_MS = 3600 * 1000, /* the wall clock may be set: check for midnight at least this often */
};

int64_t continuous_now_s(const struct continuous_audit *audit)
{
    return clock_wall_us(audit->options.clock) / 1000000;
}

/* --- queue: first in, first out in each source; sources take turns, so that a kind with many objects does
 * not delay the others */

static void schedule_slice(struct continuous_audit *audit, int64_t delay_ms)
{
    if (audit->inactive || timer_running(&audit->turn)) return;
    audit->due_ms = clock_now_ms(audit->options.clock) + delay_ms;
    timer_start(&audit->turn, audit->options.clock, delay_ms);
}

static void append(struct object_source *source, uint32_t slot, bool in_front)
{
    struct audited_object *object = &source->objects[slot];
    object->waits = true;
    object->next = in_front ? source->first : OBJECT_NONE;
    if (source->first == OBJECT_NONE)
        source->first = source->last = slot;
    else if (in_front)
        source->first = slot;
    else {
        source->objects[source->last].next = slot;
        source->last = slot;
    }
    source->audit->pending++;
    if (!source->works) TAILQ_INSERT_TAIL(&source->audit->working, source, working);
    source->works = true;
}

void source_queue(struct object_source *source, uint32_t slot)
{
    if (source->objects[slot].waits || source->audit->inactive) return;
    append(source, slot, false);
    series_set(source->audit->pending_series, (double)source->audit->pending);
    schedule_slice(source->audit, 0);
}

/* Puts an object back at the front: its remaining rules are evaluated in the next slice. */
static void source_put_back(struct object_source *source, uint32_t slot)
{
    if (!source->objects[slot].waits) append(source, slot, true); /* else queued again meanwhile */
}

uint32_t source_take(struct object_source *source)
{
    while (source->first != OBJECT_NONE) {
        uint32_t slot = source->first;
        struct audited_object *object = &source->objects[slot];
        source->first = object->next;
        if (source->first == OBJECT_NONE) source->last = OBJECT_NONE;
        object->waits = false;
        source->audit->pending--;
        if (object->root) return slot;
        object->next = source->unused; /* removed while queued */
        source->unused = slot;
    }
    return OBJECT_NONE;
}

static void source_queue_all(struct object_source *source)
{
    for (uint32_t slot = 0; slot < source->used; slot++)
        if (source->objects[slot].root) source_queue(source, slot);
}

/* --- slices */

static int64_t measure(const struct continuous_audit *audit)
{
    return audit->options.now_ns ? audit->options.now_ns() : clock_measure_ns();
}

/* Evaluates the stale rules of an object. Returns false if the slice ended before the last. */
static bool evaluate_object(struct object_source *source, uint32_t slot, int64_t end_ns)
{
    for (size_t i = 0; i < source->column_count; i++) {
        struct column *column = source->columns[i];
        if (!column->ready || column->rule->is_incomplete || (column_cell(column, slot)->flags & CELL_FRESH))
            continue;
        if (measure(source->audit) >= end_ns) return false;
        column_evaluate(column, slot);
    }
    return true;
}

/* Returns the next source whose script does not rest: its rules would have to compute what its indexes lack.
 */
static struct object_source *next_source(const struct continuous_audit *audit)
{
    struct object_source *source;
    TAILQ_FOREACH (source, &audit->working, working)
        if (!index_functions_rest(source->script)) return source;
    return NULL;
}

static void take_slice(struct continuous_audit *audit, int64_t end_ns)
{
    struct object_source *source;
    while ((source = next_source(audit)) && measure(audit) < end_ns) {
        /* Taken out first: evaluating may queue objects of this source, which links it again. */
        TAILQ_REMOVE(&audit->working, source, working);
        source->works = false;
        uint32_t slot = source_take(source);
        if (slot != OBJECT_NONE && !evaluate_object(source, slot, end_ns)) source_put_back(source, slot);
        if (source->first == OBJECT_NONE || source->works) continue;
        TAILQ_INSERT_TAIL(&audit->working, source, working);
        source->works = true;
    }
}

/* Runs a slice. If the loop was late, the next slice waits as long as this one took, so that an audit never
 * uses more than half of a busy loop. */
static void on_turn(struct timer *timer)
{
    struct continuous_audit *audit = container_of(timer, struct continuous_audit, turn);
    int64_t late_ms = clock_now_ms(audit->options.clock) - audit->due_ms, begun_ns = measure(audit);
    take_slice(audit, begun_ns + SLICE_NS);
    series_set(audit->pending_series, (double)audit->pending);
    series_set(audit->left_out_series, (double)audit->left_out);
    int64_t took_ms = (measure(audit) - begun_ns) / 1000000;
    if (TAILQ_EMPTY(&audit->working)) return;
    int64_t delay_ms = late_ms > 1 ? took_ms + 1 : 1;
    schedule_slice(audit, next_source(audit) ? delay_ms : REST_MS);
}

/* --- timers */

/* Returns whether an earlier column has the same objects. Two names of a kind turn out to be one only when
 * the server has resolved them. */
static bool is_repeated(const struct column *column)
{
    const struct column *earlier = column->rule->columns;
    for (; earlier < column; earlier++)
        if (!earlier->repeated && claims_share(earlier->source->claim, column->source->claim)) return true;
    return false;
}

static bool check_ready(struct column *column)
{
    if (!claim_has_synced(column->source->claim)) return false;
    column->repeated = is_repeated(column);
    if (column->repeated) return true;
    /* A rule that looks up objects in an empty cache would report findings that are wrong. */
    for (size_t i = 0; i < column->rule->use_count; i++)
        if (!claim_has_synced(column->rule->watches[i]->claim)) return false;
    column->ready = true;
    source_queue_all(column->source);
    return true;
}

bool column_lacks(const struct column *column)
{
    bool lacks = claim_is_suspended(column->source->claim);
    for (size_t i = 0; i < column->rule->use_count; i++)
        lacks |= claim_is_suspended(column->rule->watches[i]->claim);
    return lacks;
}

static bool is_settled(const struct column *column)
{
    return column->ready || column->repeated || column_lacks(column);
}

void continuous_check_ready(struct continuous_audit *audit)
{
    struct audited_rule *rule;
    bool all =
        TAILQ_EMPTY(&audit->duplicate_rules) || TAILQ_LAST(&audit->duplicate_rules, duplicate_rules)->logged;
    continuous_check_refused(audit);
    TAILQ_FOREACH (rule, &audit->rules, link)
        for (size_t i = 0; i < rule->column_count; i++)
            if (!is_settled(&rule->columns[i]) && !check_ready(&rule->columns[i])) all = false;
    if (!all && !timer_running(&audit->ready)) timer_start(&audit->ready, audit->options.clock, READY_MS);
}

static void on_ready(struct timer *timer)
{
    struct continuous_audit *audit = container_of(timer, struct continuous_audit, ready);
    continuous_report_duplicates(audit);
    continuous_check_ready(audit);
}

/* Delayed: at start many claims sync at once. */
void continuous_claims_changed(struct continuous_audit *audit)
{
    if (!timer_running(&audit->ready)) timer_start(&audit->ready, audit->options.clock, READY_MS);
}

static void on_untracked(struct timer *timer)
{
    struct continuous_audit *audit = container_of(timer, struct continuous_audit, untracked);
    struct audited_rule *rule;
    TAILQ_FOREACH (rule, &audit->rules, link) {
        if (!rule->untracked_due) continue;
        rule->untracked_due = false;
        audited_rule_make_stale(rule, 0);
    }
}

static void wait_for_midnight(struct continuous_audit *audit)
{
    int64_t left_ms = (DAY_S - continuous_now_s(audit) % DAY_S) * 1000;
    timer_start(&audit->midnight, audit->options.clock, left_ms < CLOCK_MS ? left_ms : CLOCK_MS);
}

/* Makes rules stale at midnight: suppressions that were valid until yesterday have ended. */
static void on_midnight(struct timer *timer)
{
    struct continuous_audit *audit = container_of(timer, struct continuous_audit, midnight);
    struct audited_rule *rule;
    int64_t today = continuous_now_s(audit) / DAY_S;
    bool passed = today != audit->today;
    audit->today = today;
    if (passed)
        TAILQ_FOREACH (rule, &audit->rules, link) audited_rule_make_stale(rule, CELL_UNTIL);
    wait_for_midnight(audit);
}

/* --- start and stop */

struct continuous_audit *continuous_new(const struct continuous_options *options)
{
    struct continuous_audit *audit = NEW(struct continuous_audit);
    audit->options = *options;
    TAILQ_INIT(&audit->sources);
    TAILQ_INIT(&audit->working);
    TAILQ_INIT(&audit->watches);
    TAILQ_INIT(&audit->rules);
    TAILQ_INIT(&audit->duplicate_rules);
    LIST_INIT(&audit->walks);
    audit->dependencies = dependencies_new(options->max_dependencies);
    audit->turn.fn = on_turn;
    audit->ready.fn = on_ready;
    audit->untracked.fn = on_untracked;
    audit->midnight.fn = on_midnight;
    audit->pending_series = series_new(&family_audit_pending, NULL);
    audit->left_out_series = series_new(&family_audit_left_out, NULL);
    series_set(audit->pending_series, 0);
    series_set(audit->left_out_series, 0);
    audit->today = continuous_now_s(audit) / DAY_S;
    wait_for_midnight(audit);
    return audit;
}

void continuous_free(struct continuous_audit *audit)
{
    if (!audit) return;
    struct audited_rule *rule;
    struct object_source *source;
    struct watch *watch;
    /* Freeing rules reports changes; the receiver may already be gone. */
    audit->options.changed = NULL;
    continuous_drop_duplicates(audit, NULL);
    while ((rule = TAILQ_FIRST(&audit->rules))) audited_rule_free(rule);
    while ((source = TAILQ_FIRST(&audit->sources))) source_free(source);
    while ((watch = TAILQ_FIRST(&audit->watches))) watch_free(watch);
    dependencies_free(audit->dependencies);
    timer_cancel(&audit->turn);
    timer_cancel(&audit->ready);
    timer_cancel(&audit->untracked);
    timer_cancel(&audit->midnight);
    series_free(audit->pending_series);
    series_free(audit->left_out_series);
    buf_clear(&audit->gathered);
    buf_clear(&audit->text);
    free(audit);
}

void continuous_set_active(struct continuous_audit *audit, bool active)
{
    struct audited_rule *rule;
    struct object_source *source;
    if (active != audit->inactive) return;
    audit->inactive = !active;
    /* A replica that does not lead must not show results that grow old. */
    if (!active) {
        timer_cancel(&audit->turn);
        TAILQ_FOREACH (rule, &audit->rules, link) audited_rule_forget(rule);
        return;
    }
    TAILQ_FOREACH (source, &audit->sources, link) source_queue_all(source);
    if (!TAILQ_EMPTY(&audit->working)) schedule_slice(audit, 0);
}
