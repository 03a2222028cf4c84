/* Status and results of continuous audits; see continuous.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/continuous/continuous_internal.h"
#include "base/mem.h"
#include "informer/store/indexer.h"
#include "object/value/value.h"
#include "script/generation/script.h"

static bool waits(const struct audited_rule *rule)
{
    for (size_t i = 0; i < rule->column_count; i++)
        if (!rule->columns[i].ready && !rule->columns[i].repeated && !column_lacks(&rule->columns[i]))
            return true;
    return false;
}

static void put_kind(const struct informer_claim *claim, struct buf *out)
{
    if (claim_is_suspended(claim)) buf_printf(out, "%s%s", out->len ? ", " : "", claim_spec(claim)->kind);
}

/* Its kinds that the server does not have; the same may be checked and used. */
static void put_lacks(const struct audited_rule *rule, struct buf *out)
{
    for (size_t i = 0; i < rule->column_count; i++) put_kind(rule->columns[i].source->claim, out);
    for (size_t i = 0; i < rule->use_count; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++) again |= rule->watches[j] == rule->watches[i];
        for (size_t j = 0; j < rule->column_count; j++)
            again |= rule->columns[j].source->claim == rule->watches[i]->claim;
        if (!again) put_kind(rule->watches[i]->claim, out);
    }
}

static bool is_evaluated(const struct audited_rule *rule)
{
    for (size_t i = 0; i < rule->column_count; i++)
        if (!column_lacks(&rule->columns[i])) return true;
    return false;
}

static bool lacks(const struct audited_rule *rule)
{
    for (size_t i = 0; i < rule->column_count; i++)
        if (column_lacks(&rule->columns[i])) return true;
    return false;
}

static void add_rule(struct continuous_status *status, const struct audited_rule *rule)
{
    for (size_t i = 0; i < rule->column_count; i++)
        status->bytes += rule->columns[i].cap * sizeof(struct result_cell);
    status->rules++;
    status->waiting_rules += waits(rule);
    status->lacking_rules += lacks(rule);
    status->incomplete_rules += rule->is_incomplete;
    status->quarantined_rules += rule->quarantined;
    status->untracked_rules += rule->untracked;
    for (size_t v = 0; v < VERDICTS; v++) status->verdicts[v] += rule->counts[v];
}

static int compare(const void *a, const void *b)
{
    const void *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

/* Two names of a kind, or two scripts, have the same objects. */
static size_t count_objects(const struct continuous_audit *audit)
{
    const struct object_source *source;
    size_t count = 0, objects = 0, room = 0;
    TAILQ_FOREACH (source, &audit->sources, link) room++;
    const struct indexer **caches = xcalloc(room + 1, sizeof *caches);
    TAILQ_FOREACH (source, &audit->sources, link) {
        caches[count] = claim_indexer(source->claim);
        count += caches[count] != NULL;
    }
    qsort(caches, count, sizeof *caches, compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || caches[i] != caches[i - 1]) objects += indexer_count(caches[i]);
    free(caches);
    return objects;
}

struct continuous_status continuous_status(const struct continuous_audit *audit)
{
    struct continuous_status status = {.active = !audit->inactive,
                                       .pending = audit->pending,
                                       .dependencies = dependencies_count(audit->dependencies),
                                       .finding_bytes = audit->finding_bytes,
                                       .left_out = audit->left_out};
    const struct audited_rule *rule;
    const struct object_source *source;
    TAILQ_FOREACH (rule, &audit->rules, link) add_rule(&status, rule);
    TAILQ_FOREACH (source, &audit->sources, link) {
        status.bytes += source->cap * sizeof *source->objects + granule_table_bytes(&source->by_key);
    }
    const struct duplicate_rule *duplicate_rule;
    TAILQ_FOREACH (duplicate_rule, &audit->duplicate_rules, link) status.duplicate_rules++;
    status.objects = count_objects(audit);
    status.bytes += status.dependencies * DEPENDENCY_BYTES + status.finding_bytes;
    return status;
}

static void each_duplicate(const struct continuous_audit *audit,
                           void (*fn)(void *ctx, const struct continuous_rule_status *status), void *ctx)
{
    const struct duplicate_rule *duplicate_rule;
    const struct audited_rule *rule;
    TAILQ_FOREACH (duplicate_rule, &audit->duplicate_rules, link) {
        struct continuous_rule_status status = {
            .ref = &duplicate_rule->ref, .lacks = "", .error = "", .error_object = ""};
        TAILQ_FOREACH (rule, &audit->rules, link)
            if (strcmp(rule->id, duplicate_rule->ref.rule->id) == 0)
                status.duplicate_rule = script_name(rule->ref.script);
        fn(ctx, &status);
    }
}

void continuous_each_rule(const struct continuous_audit *audit,
                          void (*fn)(void *ctx, const struct continuous_rule_status *status), void *ctx)
{
    struct audited_rule *rule;
    struct buf kinds = {0};
    TAILQ_FOREACH (rule, &audit->rules, link) {
        kinds.len = 0;
        put_lacks(rule, &kinds);
        struct continuous_rule_status status = {.ref = &rule->ref,
                                                .waits = waits(rule),
                                                .lacks = buf_text(&kinds),
                                                .incomplete = rule->is_incomplete,
                                                .not_evaluated = !is_evaluated(rule) || rule->is_incomplete,
                                                .untracked = rule->untracked,
                                                .quarantined = rule->quarantined,
                                                .errors = rule->errors,
                                                .error = buf_text(&rule->error),
                                                .error_object = buf_text(&rule->error_object),
                                                .error_us = rule->error_us};
        memcpy(status.verdicts, rule->counts, sizeof status.verdicts);
        fn(ctx, &status);
    }
    buf_clear(&kinds);
    each_duplicate(audit, fn, ctx);
}
