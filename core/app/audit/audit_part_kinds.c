/* The kinds that rules name, and what the engine has of them; see audit_part_internal.h. */
#include <stdlib.h>

#include "app/audit/audit_caches.h"
#include "app/audit/audit_kinds.h"
#include "app/audit/audit_part_internal.h"
#include "base/array.h"
#include "base/mem.h"

/* So many kinds of one reason have a line of their own, with their rules. */
enum { KINDS_APART = 5 };

/* NULL for a kind that the server does not have, which is reported elsewhere. */
static struct kind *kind_of(struct part *part, const struct informer_claim *claim)
{
    struct resource resource;
    struct err err;
    const struct catalogue *catalogue = part->options->catalogue;
    if (!catalogue_resolve(catalogue, str_of(claim_spec(claim)->kind), &resource, &err)) return NULL;
    for (size_t i = 0; i < part->kind_count; i++) {
        if (!resource_equal(&part->kinds[i].resource, &resource)) continue;
        resource_clear(&resource);
        return &part->kinds[i];
    }
    struct kind *kind = array_add(part->kinds, part->kind_count);
    *kind = (struct kind){.resource = resource};
    kind->cache = audit_cache_of(part->options->factory, &resource, part->ns, &kind->why);
    kind->is_incomplete = kind->cache && claim_describe_refused(kind->cache, &kind->why);
    return kind;
}

static void note_rule(struct kind *kind, const char *id)
{
    buf_printf(&kind->rules, "%s%s", kind->rules.len ? ", " : "", id);
}

/* A rule that cannot see what it uses would find fault with everything. */
struct lacks {
    const struct informer_claim *cache; /* the engine's, which is reported with the kind */
    const struct informer_claim *kind;  /* the server's */
};

static struct lacks lacks_of(struct part *part, const struct script_rule *rule)
{
    struct lacks lacks = {0};
    for (size_t i = 0; i < rule->use_count; i++) {
        struct kind *kind = kind_of(part, rule->uses[i].claim);
        bool is_whole = kind && kind->cache && !kind->is_incomplete;
        if (kind && !is_whole) note_rule(kind, rule->id);
        if (!kind)
            lacks.kind = rule->uses[i].claim;
        else if (!is_whole)
            lacks.cache = rule->uses[i].claim;
    }
    return lacks;
}

/* Kinds of a rule that the engine has are audited; if it has none of them, the rule is not evaluated. */
static void prepare_kinds(struct part *part, const struct script_rule *rule, uint32_t number)
{
    const struct informer_claim *lacks = NULL;
    bool is_evaluated = false;
    for (size_t i = 0; i < rule->kind_count; i++) {
        struct kind *kind = kind_of(part, rule->kinds[i]);
        if (!kind) continue;
        if (!kind->cache) note_rule(kind, rule->id);
        if (!kind->cache && !lacks) lacks = rule->kinds[i];
        if (kind->cache) kind->audited = is_evaluated = true;
    }
    if (is_evaluated || !lacks) return;
    char *reason = xasprintf("the engine does not have all objects of %s, which the rule checks",
                             claim_spec(lacks)->kind);
    auditor_leave_out(part->auditor, number, reason);
    free(reason);
}

/* False: it uses a kind that the server does not have. */
static bool prepare_rule(struct part *part, const struct script_rule *rule, uint32_t number)
{
    struct lacks lacks = lacks_of(part, rule);
    if (lacks.kind)
        audit_kinds_leave_out_rule(part->auditor, number, "the server did not return", lacks.kind);
    else if (lacks.cache)
        audit_kinds_leave_out_rule(part->auditor, number, "the engine does not have all objects of",
                                   lacks.cache);
    if (lacks.kind || lacks.cache) return !lacks.kind;
    for (size_t i = 0; i < rule->use_count; i++) {
        claim_suspend(rule->uses[i].claim, false);
        kind_of(part, rule->uses[i].claim)->used = true;
    }
    prepare_kinds(part, rule, number);
    return true;
}

static void prepare_rules(struct part *part)
{
    uint32_t number = 0; /* in the table */
    size_t left_out = 0;
    struct buf ids = {0}, text = {0};
    for (size_t s = 0; s < part->script_count; s++)
        for (size_t i = 0; i < script_rule_count(part->scripts[s]); i++) {
            const struct script_rule *rule = script_rule(part->scripts[s], i);
            if (prepare_rule(part, rule, number++)) continue;
            audit_kinds_name_rule(&ids, rule->id);
            left_out++;
        }
    if (left_out) {
        audit_kinds_put_left_out(left_out, "the server did not return", &ids, &text);
        part_report_problem(part, buf_text(&text));
    }
    buf_clear(&ids);
    buf_clear(&text);
}

/* Informers of a script's own are filled as what rules use; of the engine's scripts with what those have,
 * too, whatever they leave out of it. */
static void prepare_informers(struct part *part)
{
    const struct informer_claim *claim = NULL;
    while ((claim = shared_factory_next_claim(part->dry.parts.factory, claim))) {
        struct kind *kind = claim_is_suspended(claim) ? NULL : kind_of(part, claim);
        if (!kind) continue;
        kind->used = true;
        if (!kind->cache) kind->partial = audit_cache_like(part->options->factory, &kind->resource);
        if (!kind->cache && !part->order.is_own) note_rule(kind, "an informer");
    }
}

static bool is_missing(const struct kind *kind)
{
    return kind->rules.len || kind->is_incomplete;
}

/* Returns whether the engine lacks both for one reason, so that one line can name them. */
static bool are_alike(const struct kind *a, const struct kind *b)
{
    if (!is_missing(b) || a->is_incomplete || b->is_incomplete) return false;
    return str_eq(buf_slice(&a->why), buf_slice(&b->why));
}

static void print_kind(struct part *part, struct kind *kind)
{
    struct buf text = {0};
    if (!kind->is_incomplete) {
        resource_name(&kind->resource, &text);
        buf_puts(&text, ": ");
    }
    buf_str(&text, buf_slice(&kind->why));
    if (kind->rules.len)
        buf_printf(&text, "; not evaluated%s: %s", kind->is_incomplete ? "" : ", or not for this kind",
                   buf_text(&kind->rules));
    part_report_problem(part, buf_text(&text));
    buf_clear(&text);
}

/* A line for each kind with its rules would be a page when all rules that ship look at a few caches. */
static void print_alike(struct part *part, size_t first, size_t count)
{
    struct buf text = {0};
    buf_printf(&text, "%zu kinds, each: %s; rules about them are not evaluated, or not for these kinds",
               count, buf_text(&part->kinds[first].why));
    for (size_t i = first, n = 0; i < part->kind_count; i++) {
        if (!are_alike(&part->kinds[first], &part->kinds[i])) continue;
        buf_puts(&text, n++ ? ", " : ": ");
        resource_name(&part->kinds[i].resource, &text);
    }
    part_report_problem(part, buf_text(&text));
    buf_clear(&text);
}

static void print_missing(struct part *part)
{
    for (size_t i = 0; i < part->kind_count; i++) {
        size_t before = 0, count = 1;
        if (!is_missing(&part->kinds[i])) continue;
        for (size_t k = 0; k < i; k++) before += are_alike(&part->kinds[i], &part->kinds[k]);
        for (size_t k = i + 1; k < part->kind_count; k++)
            count += are_alike(&part->kinds[i], &part->kinds[k]);
        if (before + count <= KINDS_APART)
            print_kind(part, &part->kinds[i]);
        else if (!before)
            print_alike(part, i, count);
    }
}

bool part_is_in_scope(const struct part *part, const struct kind *kind, const struct root *object)
{
    struct text text;
    return !*part->ns || !kind->resource.namespaced || str_is(root_namespace(object, &text), part->ns);
}

/* Rules look up what they use in caches of their scripts, which are filled from the engine's. */
static void fill_caches(struct part *part)
{
    for (size_t i = 0; i < part->kind_count; i++) {
        const struct kind *kind = &part->kinds[i];
        struct root *object;
        size_t at = 0;
        struct informer_claim *cache = kind->cache ? kind->cache : kind->partial;
        if (!kind->used || !cache) continue;
        while ((object = indexer_next(claim_indexer(cache), &at)))
            if (part_is_in_scope(part, kind, object))
                audit_objects_add(part->objects,
                                  &(const struct audit_subject){.object = object, .file = STR("")});
    }
    load_host_fill(&part->dry, part->options->catalogue);
}

static void on_missing(void *ctx, const char *text)
{
    part_report_problem(ctx, text);
}

static void on_absent(void *ctx, const char *text)
{
    struct part *part = ctx;
    char *line = xasprintf("kubelua audit: %s", text);
    if (part->options->part == 0) part_print(part, str_of(line));
    free(line);
}

void part_prepare_kinds(struct part *part)
{
    audit_kinds_report_missing(part->scripts, part->script_count, part->dry.parts.factory,
                               part->options->catalogue,
                               &(const struct audit_kinds_sink){on_missing, on_absent, part});
    prepare_rules(part);
    prepare_informers(part);
    print_missing(part);
    fill_caches(part);
}
