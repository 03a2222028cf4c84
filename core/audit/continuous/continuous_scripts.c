/* Rules of running scripts in continuous audits, and the handover of their results between generations; see
 * continuous_internal.h. */
#include <stdlib.h>
#include <string.h>

#include "audit/continuous/continuous_internal.h"
#include "base/log.h"
#include "base/mem.h"
#include "script/generation/script.h"
#include "script/inventory/inventory.h"

/* --- comparison */

static bool same_claim(const struct informer_claim *a, const struct informer_claim *b)
{
    /* Suspended claims have no informer to share, but lack the same kind. */
    bool both_lacking = claim_is_suspended(a) && claim_is_suspended(b);
    return (both_lacking || claims_share(a, b)) && strcmp(claim_spec(a)->kind, claim_spec(b)->kind) == 0;
}

/* Returns whether the rule uses the same caches in the same order. */
static bool reads_the_same(const struct audited_rule *rule, const struct script_rule *now)
{
    if (rule->column_count != now->kind_count || rule->use_count != now->use_count) return false;
    for (size_t i = 0; i < now->kind_count; i++)
        if (!same_claim(rule->columns[i].source->claim, now->kinds[i])) return false;
    for (size_t i = 0; i < now->use_count; i++) {
        const struct dependency_watch_index *index = rule->uses[i];
        if (strcmp(index->name, now->uses[i].index) != 0) return false;
        if (!same_claim(rule->watches[i]->claim, now->uses[i].claim)) return false;
    }
    return true;
}

/* Returns the equal rule of the previous generation; NULL: none. */
static struct audited_rule *find_same(struct continuous_audit *audit, const struct script *before,
                                      const struct script_rule *now, const char *code)
{
    struct audited_rule *rule;
    TAILQ_FOREACH (rule, &audit->rules, link)
        if (rule->ref.script == before && strcmp(rule->id, now->id) == 0)
            return code && rule->code && strcmp(rule->code, code) == 0 && reads_the_same(rule, now) ? rule
                                                                                                    : NULL;
    return NULL;
}

/* --- one rule */

static struct object_source *source_of(struct continuous_audit *audit, struct script *script,
                                       struct informer_claim *claim)
{
    struct object_source *source;
    TAILQ_FOREACH (source, &audit->sources, link)
        if (source->claim == claim) return source;
    return source_new(audit, script, claim);
}

static struct watch *watch_of(struct continuous_audit *audit, struct script *script,
                              struct informer_claim *claim)
{
    struct watch *watch;
    TAILQ_FOREACH (watch, &audit->watches, link)
        if (watch->claim == claim) return watch;
    return watch_new(audit, script, claim);
}

/* Returns the rule with the id: reports and metrics identify rules by id only. */
static const struct audited_rule *find_duplicate(const struct continuous_audit *audit, const char *id)
{
    const struct audited_rule *rule;
    TAILQ_FOREACH (rule, &audit->rules, link)
        if (strcmp(rule->id, id) == 0) return rule;
    return NULL;
}

static void add_duplicate(struct continuous_audit *audit, const struct rule_ref *ref, const char *code)
{
    struct duplicate_rule *duplicate_rule = NEW(struct duplicate_rule);
    duplicate_rule->ref = *ref;
    duplicate_rule->code = code ? xstrdup(code) : NULL;
    TAILQ_INSERT_TAIL(&audit->duplicate_rules, duplicate_rule, link);
}

static void free_duplicate(struct continuous_audit *audit, struct duplicate_rule *duplicate_rule)
{
    TAILQ_REMOVE(&audit->duplicate_rules, duplicate_rule, link);
    free(duplicate_rule->code);
    free(duplicate_rule);
}

void continuous_report_duplicates(struct continuous_audit *audit)
{
    struct duplicate_rule *duplicate_rule;
    TAILQ_FOREACH (duplicate_rule, &audit->duplicate_rules, link) {
        const struct audited_rule *other = find_duplicate(audit, duplicate_rule->ref.rule->id);
        if (!duplicate_rule->logged && other)
            log_error("Duplicate rule id, rule is not evaluated", F("rule", other->id),
                      F("script", script_name(duplicate_rule->ref.script)),
                      F("other", script_name(other->ref.script)));
        duplicate_rule->logged = true;
    }
}

void continuous_drop_duplicates(struct continuous_audit *audit, const struct script *script)
{
    struct duplicate_rule *duplicate_rule, *next;
    for (duplicate_rule = TAILQ_FIRST(&audit->duplicate_rules); duplicate_rule; duplicate_rule = next) {
        next = TAILQ_NEXT(duplicate_rule, link);
        if (!script || duplicate_rule->ref.script == script) free_duplicate(audit, duplicate_rule);
    }
}

static bool has_column(const struct audited_rule *rule, const struct object_source *source)
{
    for (size_t i = 0; i < rule->column_count; i++)
        if (rule->columns[i].source == source) return true;
    return false;
}

static void add_rule(struct continuous_audit *audit, const struct rule_ref *ref, const char *code)
{
    const struct script_rule *given = ref->rule;
    struct audited_rule *rule = audited_rule_new(audit, ref, code);
    for (size_t i = 0; i < given->use_count; i++) {
        rule->watches[i] = watch_of(audit, ref->script, given->uses[i].claim);
        rule->uses[i] = watch_index(rule->watches[i], given->uses[i].index);
    }
    for (size_t i = 0; i < given->kind_count; i++) {
        struct object_source *source = source_of(audit, ref->script, given->kinds[i]);
        if (has_column(rule, source)) continue; /* the rule names the kind twice */
        column_begin(&rule->columns[rule->column_count++], rule, source);
    }
}

static void add_or_wait(struct continuous_audit *audit, const struct rule_ref *ref, const char *code)
{
    if (find_duplicate(audit, ref->rule->id))
        add_duplicate(audit, ref, code);
    else
        add_rule(audit, ref, code);
}

/* Adds duplicate rules whose id has become free. */
static void take_up_twins(struct continuous_audit *audit)
{
    struct duplicate_rule *duplicate_rule, *next;
    for (duplicate_rule = TAILQ_FIRST(&audit->duplicate_rules); duplicate_rule; duplicate_rule = next) {
        next = TAILQ_NEXT(duplicate_rule, link);
        if (find_duplicate(audit, duplicate_rule->ref.rule->id)) continue;
        add_rule(audit, &duplicate_rule->ref, duplicate_rule->code);
        free_duplicate(audit, duplicate_rule);
    }
}

/* --- a generation */

/* Handover from the previous generation. */
struct activate {
    struct continuous_audit *audit;
    struct script *before, *now;
    size_t count;
    struct audited_rule **same; /* parallel to the rules of `now`; NULL: a different rule */
    char **codes;
};

static void compare(struct activate *t)
{
    for (size_t i = 0; i < t->count; i++) {
        struct buf code = {0};
        if (script_rule_code(t->now, i, &code)) t->codes[i] = buf_take(&code);
        buf_clear(&code);
        t->same[i] = t->before ? find_same(t->audit, t->before, script_rule(t->now, i), t->codes[i]) : NULL;
    }
}

static bool is_same(const struct activate *t, const struct audited_rule *rule)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->same[i] == rule) return true;
    return false;
}

static void drop_rules(const struct activate *t)
{
    struct audited_rule *rule, *next;
    for (rule = TAILQ_FIRST(&t->audit->rules); rule; rule = next) {
        next = TAILQ_NEXT(rule, link);
        if (rule->ref.script == t->before && !is_same(t, rule)) audited_rule_free(rule);
    }
}

/* Returns a claim of the new generation on the same informer; NULL: none. */
static struct informer_claim *successor(const struct activate *t, const struct informer_claim *claim,
                                        bool of_uses)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct script_rule *rule = script_rule(t->now, i);
        for (size_t k = 0; !of_uses && k < rule->kind_count; k++)
            if (same_claim(claim, rule->kinds[k])) return rule->kinds[k];
        for (size_t u = 0; of_uses && u < rule->use_count; u++)
            if (same_claim(claim, rule->uses[u].claim)) return rule->uses[u].claim;
    }
    return NULL;
}

static void move_sources(const struct activate *t)
{
    struct object_source *source, *next;
    for (source = TAILQ_FIRST(&t->audit->sources); source; source = next) {
        next = TAILQ_NEXT(source, link);
        if (source->script != t->before) continue;
        struct informer_claim *claim = successor(t, source->claim, false);
        if (claim)
            source_move(source, t->now, claim);
        else
            source_free(source);
    }
}

static void move_watches(const struct activate *t)
{
    struct watch *watch, *next;
    for (watch = TAILQ_FIRST(&t->audit->watches); watch; watch = next) {
        next = TAILQ_NEXT(watch, link);
        if (watch->script != t->before) continue;
        struct informer_claim *claim = successor(t, watch->claim, true);
        if (claim)
            watch_move(watch, t->now, claim);
        else
            watch_free(watch);
    }
}

static void set_rules(const struct activate *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct rule_ref ref = {t->now, i, script_rule(t->now, i)};
        if (t->same[i]) {
            audited_rule_set(t->same[i], &ref);
            audited_rule_make_stale(t->same[i], CELL_ERROR); /* limits and lines may differ */
        } else {
            add_or_wait(t->audit, &ref, t->codes[i]);
        }
        free(t->codes[i]);
    }
}

void continuous_take(struct continuous_audit *audit, struct script *before, struct script *now)
{
    size_t count = now ? script_rule_count(now) : 0;
    struct activate t = {.audit = audit,
                         .before = before,
                         .now = now,
                         .count = count,
                         .same = xcalloc(count + 1, sizeof(struct audited_rule *)),
                         .codes = xcalloc(count + 1, sizeof(char *))};
    /* Compare first, while both generations are unchanged. Then old rules go before their sources and watches
     * move, as these free columns and indexes that no rule uses. */
    compare(&t);
    if (before) {
        continuous_drop_duplicates(audit, before);
        drop_rules(&t);
        move_sources(&t);
        move_watches(&t);
    }
    set_rules(&t);
    /* Last: only now is it known which ids are free. */
    take_up_twins(audit);
    free(t.same);
    free(t.codes);
    continuous_check_ready(audit);
}
