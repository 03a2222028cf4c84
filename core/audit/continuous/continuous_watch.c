/* Dependencies of rules: a change of an object makes results stale that looked up its old or new values; see
 * continuous_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/continuous/continuous_internal.h"
#include "base/array.h"
#include "informer/shared/claim_index.h"
#include "informer/store/index.h"
#include "object/value/value.h"
#include "script/caches/index_function.h"

/* --- values of an object */

static bool is(const struct dependency_watch_index *index, const char *name)
{
    return strcmp(index->name, name) == 0;
}

/* Adds the values under which an object is found. */
static void add_values(const struct dependency_watch_index *index, struct root *object,
                       struct index_values *out)
{
    struct err err;
    struct text text;
    struct buf key = {0};
    if (index->source.values) {
        index->source.values(index->source.ctx, object, out, &err);
        return;
    }
    if (is(index, "key"))
        root_key(object, &key);
    else if (is(index, "namespace"))
        buf_str(&key, root_namespace(object, &text));
    index_values_add(out, buf_slice(&key));
    buf_clear(&key);
}

static void each_value(const struct index_values *values, void (*fn)(void *ctx, struct str value), void *ctx)
{
    const char *at = values->bytes.data;
    for (size_t i = 0; i < values->count; i++) {
        size_t len;
        memcpy(&len, at, sizeof len);
        at += sizeof len;
        fn(ctx, (struct str){at, len});
        at += len;
    }
}

/* --- changes */

static void make_stale(void *ctx, const struct dependent *dependent)
{
    struct column *column = dependent->column;
    (void)ctx;
    column_cell(column, dependent->slot)->flags &= (uint8_t)~CELL_FRESH;
    source_queue(column->source, dependent->slot);
}

static void value_changed(void *ctx, struct str value)
{
    dependency_index_each(ctx, value, make_stale, NULL);
}

static bool uses(const struct audited_rule *rule, const struct dependency_watch_index *index)
{
    for (size_t i = 0; i < rule->use_count; i++)
        if (rule->uses[i] == index) return true;
    return false;
}

/* Makes all rules that use the index stale, because the index itself changed or failed for an object: single
 * dependencies do not cover that. */
static void on_news(void *ctx)
{
    struct dependency_watch_index *index = ctx;
    struct audited_rule *rule;
    TAILQ_FOREACH (rule, &index->audit->rules, link)
        if (uses(rule, index)) audited_rule_make_stale(rule, 0);
}

/* The index of a function knows the values of a changed object without another call, if not at once. */
static void on_touched(void *ctx, struct str value)
{
    struct dependency_watch_index *index = ctx;
    if (!index->audit->inactive) value_changed(index->dependencies, value);
}

/* Makes dependents of an object stale. An object without values has none, as no lookup finds it. */
static void index_changed(struct dependency_watch_index *index, struct root *object)
{
    struct index_values values = {0};
    if (index->by_function) return; /* see on_touched */
    add_values(index, object, &values);
    each_value(&values, value_changed, index->dependencies);
    buf_clear(&values.bytes);
}

static bool uses_watch(const struct audited_rule *rule, const struct watch *watch)
{
    for (size_t i = 0; i < rule->use_count; i++)
        if (rule->watches[i] == watch) return true;
    return false;
}

static void wake_untracked(struct watch *watch)
{
    struct continuous_audit *audit = watch->audit;
    struct audited_rule *rule;
    TAILQ_FOREACH (rule, &audit->rules, link) {
        if (!rule->untracked || !uses_watch(rule, watch)) continue;
        rule->untracked_due = true;
        /* Not postponed by further changes: a busy cache would keep the rule stale for ever. */
        if (!timer_running(&audit->untracked))
            timer_start(&audit->untracked, audit->options.clock, CONTINUOUS_UNTRACKED_MS);
    }
}

/* Makes results stale that depend on either state; NULL: the object did not exist. Both count, as a lookup
 * may have found the old state or missed the new one. */
static void changed(struct watch *watch, struct root *before, struct root *after)
{
    if (before == after || watch->audit->inactive) return;
    for (size_t i = 0; i < watch->count; i++) {
        if (before) index_changed(watch->indexes[i], before);
        if (after) index_changed(watch->indexes[i], after);
    }
    wake_untracked(watch);
}

static void on_add(void *ctx, struct root *object, const struct event_info *info)
{
    (void)info;
    changed(ctx, NULL, object);
}

static void on_update(void *ctx, struct root *before, struct root *object, const struct event_info *info)
{
    (void)info;
    changed(ctx, before, object);
}

static void on_delete(void *ctx, struct root *last, const struct event_info *info)
{
    changed(ctx, info->stored ? info->stored : last, NULL);
}

static struct event_handler handler_of(struct watch *watch)
{
    return (struct event_handler){
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .ctx = watch, .from_now_on = true};
}

/* --- indexes */

static void free_source(struct dependency_watch_index *index)
{
    if (index->by_function) index_function_on_change(&index->source, NULL, NULL, NULL);
    if (!index->by_function && index->source.free) index->source.free(index->source.ctx);
    index->source = (struct index_source){0};
}

/* Uses the index function of the claim, or a source for the same path. */
static void find_source(struct watch *watch, struct dependency_watch_index *index)
{
    bool is_namespace;
    struct err err;
    if (is(index, "") || is(index, "key") || is(index, "namespace")) return;
    struct claim_index *named = claim_find_index(watch->claim, str_of(index->name), &is_namespace, &err);
    free_source(index);
    index->by_function = named && claim_index_source(named)->values;
    if (!index->by_function) {
        index_source_of_path(str_of(index->name), &index->source, &err);
        return;
    }
    index->source = *claim_index_source(named);
    index_function_on_change(&index->source, on_news, on_touched, index);
}

struct dependency_watch_index *watch_index(struct watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->count; i++)
        if (is(watch->indexes[i], name)) return watch->indexes[i];
    struct dependency_watch_index *index = NEW(struct dependency_watch_index);
    index->audit = watch->audit;
    index->name = xstrdup(name);
    index->dependencies = dependency_index_new(watch->audit->dependencies);
    find_source(watch, index);
    return *array_add(watch->indexes, watch->count) = index;
}

static void free_index(struct dependency_watch_index *index)
{
    free_source(index);
    dependency_index_free(index->dependencies);
    free(index->name);
    free(index);
}

static bool is_used(const struct dependency_watch_index *index)
{
    const struct audited_rule *rule;
    TAILQ_FOREACH (rule, &index->audit->rules, link)
        if (uses(rule, index)) return true;
    return false;
}

/* Drops unused indexes, whose values would be computed at every event. */
static void drop_unused(struct watch *watch)
{
    size_t kept = 0;
    for (size_t i = 0; i < watch->count; i++) {
        if (is_used(watch->indexes[i]))
            watch->indexes[kept++] = watch->indexes[i];
        else
            free_index(watch->indexes[i]);
    }
    watch->count = kept;
}

/* --- lifetime */

struct watch *watch_new(struct continuous_audit *audit, struct script *script, struct informer_claim *claim)
{
    struct watch *watch = NEW(struct watch);
    watch->audit = audit;
    watch->script = script;
    watch->claim = claim;
    TAILQ_INSERT_TAIL(&audit->watches, watch, link);
    const struct event_handler handler = handler_of(watch);
    watch->handler = claim_add_handler(claim, &handler);
    return watch;
}

void watch_move(struct watch *watch, struct script *script, struct informer_claim *claim)
{
    const struct event_handler handler = handler_of(watch);
    claim_move_handler(watch->handler, claim, &handler);
    watch->script = script;
    watch->claim = claim;
    drop_unused(watch);
    for (size_t i = 0; i < watch->count; i++) find_source(watch, watch->indexes[i]);
}

void watch_free(struct watch *watch)
{
    claim_remove_handler(watch->handler);
    TAILQ_REMOVE(&watch->audit->watches, watch, link);
    for (size_t i = 0; i < watch->count; i++) free_index(watch->indexes[i]);
    free(watch->indexes);
    free(watch);
}
