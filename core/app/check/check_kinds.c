/* Kinds that scripts name, against those that there are; see check.h. */
#include <stdlib.h>
#include <string.h>

#include "app/check/check.h"
#include "base/mem.h"
#include "informer/shared/handler_options.h"
#include "informer/shared/shared_factory.h"
#include "informer/store/filter.h"
#include "kube/kinds/well_known.h"
#include "script/inventory/inventory.h"
#include "script/rules/rule.h"
#include "script/server/declared.h"

struct kinds_scan {
    const char *file;
    const struct catalogue *catalogue;
    bool is_whole;
    struct findings *findings;
};

/* Without a server or a dump nobody knows: it is a warning. */
static void warn(const struct kinds_scan *scan, const char *kind, struct place at)
{
    struct err err;
    well_known_lacks(scan->catalogue, str_of(kind), &err);
    diagnostics_add(scan->findings, at.file, at.line, true,
                    "%s; to be sure, check against a server or a dump (--against)", err.text);
}

/* A kind with a group may come later at a start; that it is not there now is what a check is for. */
static void check_kind(const struct kinds_scan *scan, const char *kind, const struct inventory_entry *entry)
{
    struct resource resource;
    struct err err;
    if (strcmp(kind, "*") == 0) return;
    if (catalogue_resolve(scan->catalogue, str_of(kind), &resource, &err)) {
        resource_clear(&resource);
        return;
    }
    bool is_bare = !strpbrk(kind, "./");
    bool is_unsure = !scan->is_whole && err.code == ERR_NOT_FOUND &&
                     !well_known_refuses(scan->catalogue, str_of(kind), &err);
    if (is_unsure && !is_bare) return;
    if (scan->is_whole && err.code == ERR_NOT_FOUND) catalogue_explain(scan->catalogue, str_of(kind), &err);
    char *quoted = xasprintf("\"%s", kind);
    struct place at = find_place(entry, scan->file, quoted);
    if (is_unsure)
        warn(scan, kind, at);
    else
        diagnostics_add(scan->findings, at.file, at.line, false, "%s", err.text);
    free(quoted);
}

/* Rules share claims: a claim's place is that of the first. */
static void check_rule(const struct kinds_scan *scan, const struct script *script, size_t i)
{
    const struct script_rule *rule = script_rule(script, i);
    const struct inventory_entry *entry = script_rule_place(script, i);
    for (size_t k = 0; k < rule->kind_count; k++) check_kind(scan, claim_spec(rule->kinds[k])->kind, entry);
    for (size_t u = 0; u < rule->use_count; u++)
        check_kind(scan, claim_spec(rule->uses[u].claim)->kind, entry);
}

static void check_declared_kinds(const struct kinds_scan *scan, const struct inventory *plan,
                                 const struct declarations *declared, enum inventory_class class)
{
    for (size_t i = 0; i < declared->count; i++)
        check_kind(scan, declared->items[i].kind,
                   inventory_find(plan, class, str_of(declared->items[i].text)));
}

void check_kinds(const struct script *script, const char *file, const struct catalogue *catalogue,
                 bool is_whole, struct findings *findings)
{
    const struct kinds_scan scan = {file, catalogue, is_whole, findings};
    const struct inventory *plan = script_inventory(script);
    for (size_t i = 0; i < script_claim_count(script); i++)
        check_kind(&scan, claim_spec(script_claim(script, i))->kind, script_claim_place(script, i));
    for (size_t i = 0; i < script_rule_count(script); i++) check_rule(&scan, script, i);
    check_declared_kinds(&scan, plan, script_declared_reads(script), INVENTORY_READ);
    check_declared_kinds(&scan, plan, script_declared_writes(script), INVENTORY_WRITE);
}

/* --- Rules that no object can meet, and what they use that finds nothing */

struct rules_scan {
    const char *file;
    const struct catalogue *catalogue;
    struct findings *findings;
    const struct script_rule *rule;
    const struct inventory_entry *entry; /* where it is registered */
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
        diagnostics_add(scan->findings, at.file, at.line, false,
                        "rule %s: namespaces: every included namespace is also excluded", rule->id);
    for (size_t i = 0; i < rule->kind_count && !rule_takes(rule, STR("")); i++)
        if (has_no_namespaces(scan, rule->kinds[i]))
            diagnostics_add(scan->findings, at.file, at.line, false,
                            "rule %s: namespaces: %s are not namespaced, so nothing can match", rule->id,
                            claim_spec(rule->kinds[i])->kind);
}

static void check_uses(const struct rules_scan *scan)
{
    const struct script_rule *rule = scan->rule;
    for (size_t i = 0; i < rule->use_count; i++) {
        const struct rule_use *use = &rule->uses[i];
        if (!str_is(str_of(use->index), "namespace") || !has_no_namespaces(scan, use->claim)) continue;
        struct place at = place_of(scan, use->name);
        diagnostics_add(scan->findings, at.file, at.line, false,
                        "rule %s: uses.%s: %s are not namespaced, so the index \"namespace\" finds nothing",
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
