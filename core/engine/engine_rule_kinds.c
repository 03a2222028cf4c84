/* Kinds that rules of continuous audits name and the server does not have: nobody waits for them, and rules
 * are asked about them once they are there. Claims of such are held (shared_factory.h), which no others are
 * in an engine that asks rules. See engine_internal.h. */
#include <string.h>

#include "base/log.h"
#include "engine/engine_internal.h"
#include "kube/kinds/well_known.h"
#include "script/rules/rule.h"

static bool needs(const struct script_rule *rule, const struct informer_claim *claim)
{
    for (size_t k = 0; k < rule->kind_count; k++)
        if (rule->kinds[k] == claim) return true;
    for (size_t u = 0; u < rule->use_count; u++)
        if (rule->uses[u].claim == claim) return true;
    return false;
}

/* --- what is told: one line, however many there are */

enum { NAMED = 10 };

static void add_name(struct spared_names *names, const char *name)
{
    struct str rest = buf_slice(&names->all), one;
    while (str_cut(&rest, '\n', &one))
        if (str_is(one, name)) return;
    buf_printf(&names->all, "%s\n", name);
    if (names->count++ < NAMED) buf_printf(&names->shown, "%s%s", names->count > 1 ? ", " : "", name);
}

static void end_names(struct spared_names *names)
{
    if (names->count > NAMED) buf_printf(&names->shown, " and %zu more", names->count - NAMED);
}

static void clear_names(struct spared_names *names)
{
    buf_clear(&names->all);
    buf_clear(&names->shown);
    *names = (struct spared_names){0};
}

void engine_tell_spared(struct spared_kinds *spared)
{
    end_names(&spared->kinds);
    end_names(&spared->rules);
    if (spared->kinds.count)
        log_warn("The server does not have all kinds that rules need: they are not asked about these until "
                 "it does",
                 F("kinds", buf_text(&spared->kinds.shown)), F("rules", buf_text(&spared->rules.shown)));
    clear_names(&spared->kinds);
    clear_names(&spared->rules);
}

/* --- claims */

static bool is_of_rule(const struct script *script, const struct informer_claim *claim)
{
    for (size_t i = 0; i < script_rule_count(script); i++)
        if (needs(script_rule(script, i), claim)) return true;
    return false;
}

static bool may_have(const char *kind)
{
    struct catalogue *known = catalogue_well_known();
    bool may = well_known_may_have(known, str_of(kind));
    catalogue_free(known);
    return may;
}

bool engine_spare_kind(const struct engine *engine, const struct script *script, struct informer_claim *claim,
                       const struct catalogue *catalogue, struct spared_kinds *spared)
{
    const char *kind = claim_spec(claim)->kind;
    if (!engine->host.runs_rules || !is_of_rule(script, claim)) return false;
    if (claim_is_held(claim)) return true;
    if (*catalogue_failures(catalogue) || !may_have(kind)) return false;
    claim_hold(claim, true);
    add_name(&spared->kinds, kind);
    for (size_t i = 0; i < script_rule_count(script); i++)
        if (needs(script_rule(script, i), claim)) add_name(&spared->rules, script_rule(script, i)->id);
    return true;
}

bool engine_take_kinds(const struct engine *engine, const struct catalogue *catalogue)
{
    bool lacking = false;
    struct informer_claim *claim = NULL;
    while (engine->host.runs_rules && (claim = shared_factory_next_claim(engine->factory, claim))) {
        struct resource resource;
        struct err err;
        if (!claim_is_held(claim)) continue;
        if (!catalogue_resolve(catalogue, str_of(claim_spec(claim)->kind), &resource, &err)) {
            lacking = true;
            continue;
        }
        resource_clear(&resource);
        claim_hold(claim, false);
    }
    return lacking;
}
