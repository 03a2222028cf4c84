/* Names of kinds; see audit_kinds.h. */
#include "app/audit_kinds.h"

#include <stdio.h>

#include "informer/shared_factory.h"
#include "kube/resource.h"
#include "kube/well_known.h"
#include "script/plan.h"

static bool may_be(const struct catalogue *known, struct str kind)
{
    struct resource resource;
    struct err err;
    bool is_known = catalogue_resolve(known, kind, &resource, &err);
    if (is_known) resource_clear(&resource);
    return is_known || (resource_name_has_group(kind) && !well_known_refuses(known, kind, &err));
}

bool audit_kind_may_be(struct str kind)
{
    struct catalogue *known = catalogue_well_known();
    bool may = may_be(known, kind);
    catalogue_free(known);
    return may;
}

static bool is_lacking(const struct catalogue *known, const struct informer_claim *claim, bool of_files)
{
    if (claim_resource(claim)) return !claim_has_synced(claim);
    return !of_files || !may_be(known, str_of(claim_spec(claim)->kind));
}

size_t audit_kinds_leave_out(const struct audit_scripts *scripts, bool of_files)
{
    struct catalogue *known = catalogue_well_known();
    uint32_t number = 0; /* in the table */
    size_t left_out = 0;
    for (size_t s = 0; s < scripts->count; s++)
        for (size_t i = 0; i < script_rule_count(scripts->items[s]); i++, number++) {
            const struct script_rule *rule = script_rule(scripts->items[s], i);
            bool lacks = false;
            for (size_t u = 0; u < rule->use_count; u++)
                lacks |= is_lacking(known, rule->uses[u].claim, of_files);
            if (!lacks) continue;
            auditor_leave_out(scripts->auditor, number);
            left_out++;
        }
    catalogue_free(known);
    return left_out;
}

struct kinds_check {
    const struct audit_scripts *scripts;
    struct catalogue *known;
    const struct script *script;
    size_t rule;
    bool ok;
};

static void check(struct kinds_check *c, const struct informer_claim *claim)
{
    struct str kind = str_of(claim_spec(claim)->kind);
    struct err err;
    if (may_be(c->known, kind) || auditor_has_seen(c->scripts->auditor, kind)) return;
    const struct plan_entry *place = script_rule_place(c->script, c->rule);
    well_known_lacks(c->known, kind, &err);
    fprintf(stderr, "kubelua audit: %s:%d: rule %s: %s, and nothing in the input is of it\n",
            place && place->file ? place->file : script_path(c->script), place ? place->line : 0,
            script_rule(c->script, c->rule)->id, err.text);
    c->ok = false;
}

bool audit_kinds_check(const struct audit_scripts *scripts)
{
    struct kinds_check c = {.scripts = scripts, .known = catalogue_well_known(), .ok = true};
    for (size_t s = 0; s < scripts->count; s++) {
        c.script = scripts->items[s];
        for (c.rule = 0; c.rule < script_rule_count(c.script); c.rule++) {
            const struct script_rule *rule = script_rule(c.script, c.rule);
            for (size_t k = 0; k < rule->kind_count; k++) check(&c, rule->kinds[k]);
            for (size_t u = 0; u < rule->use_count; u++) check(&c, rule->uses[u].claim);
        }
    }
    catalogue_free(c.known);
    return c.ok;
}
