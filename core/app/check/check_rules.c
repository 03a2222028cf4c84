/* Rules that no object can meet, and what they use that finds nothing; see check.h. */
#include "app/check/check.h"
#include "informer/shared/handler_options.h"
#include "informer/shared/shared_factory.h"
#include "informer/store/filter.h"
#include "script/inventory/plan.h"
#include "script/rules/rule.h"

struct rules_scan {
    const char *file;
    const struct catalogue *catalogue;
    struct findings *findings;
    const struct script_rule *rule;
    const struct plan_entry *entry; /* where it is registered */
};

static struct place place_of(const struct rules_scan *scan, const char *text)
{
    return find_place(scan->entry, scan->file, text);
}

/* False for kinds that are not known: that is told elsewhere. */
static bool has_no_namespaces(const struct rules_scan *scan, const struct informer_claim *claim)
{
    struct resource resource;
    struct err err;
    if (!catalogue_resolve(scan->catalogue, str_of(claim_spec(claim)->kind), &resource, &err)) return false;
    bool none = !resource.namespaced;
    resource_clear(&resource);
    return none;
}

static void check_namespaces(const struct rules_scan *scan)
{
    const struct script_rule *rule = scan->rule;
    struct place at = place_of(scan, "namespaces");
    if (filter_admits_no_namespace(handler_options_filter(rule->options)))
        findings_add(scan->findings, at.file, at.line, false,
                     "the rule %s: namespaces: each that is named is left out, too", rule->id);
    for (size_t i = 0; i < rule->kind_count && !rule_takes(rule, STR("")); i++)
        if (has_no_namespaces(scan, rule->kinds[i]))
            findings_add(scan->findings, at.file, at.line, false,
                         "the rule %s: namespaces: %s have none, so that no object passes", rule->id,
                         claim_spec(rule->kinds[i])->kind);
}

static void check_uses(const struct rules_scan *scan)
{
    const struct script_rule *rule = scan->rule;
    for (size_t i = 0; i < rule->use_count; i++) {
        const struct rule_use *use = &rule->uses[i];
        if (!str_is(str_of(use->index), "namespace") || !has_no_namespaces(scan, use->claim)) continue;
        struct place at = place_of(scan, use->name);
        findings_add(
            scan->findings, at.file, at.line, false,
            "the rule %s: uses.%s: %s have no namespaces, so that the index \"namespace\" finds none",
            rule->id, use->name, claim_spec(use->claim)->kind);
    }
}

void check_rules(const struct script *script, const char *file, const struct catalogue *catalogue,
                 struct findings *findings)
{
    for (size_t i = 0; i < script_rule_count(script); i++) {
        const struct rules_scan scan = {file, catalogue, findings, script_rule(script, i),
                                        script_rule_place(script, i)};
        check_namespaces(&scan);
        check_uses(&scan);
    }
}
