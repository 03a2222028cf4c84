/* Rules as their authors describe them, for the admin socket and `kubelua audit --explain`; see
 * admin_engine.h.
 */
#include "app/admin/admin_engine.h"

#include "audit/rules/suppression.h"
#include "base/text/json_out.h"
#include "engine/engine_view.h"
#include "informer/shared/shared_factory.h"
#include "script/inventory/inventory.h"
#include "script/rules/rule.h"

static void put_ignore(const struct script_rule *rule, struct buf *out)
{
    json_open(out, "ignore", '{');
    json_bool(out, "forbidden", rule->ignore.forbidden);
    json_int(out, "maxDays", rule->ignore.max_days);
    json_bool(out, "someNamespaces", rule->ignore.namespaces != NULL);
    json_text(out, "prefix", SUPPRESSION_PREFIX);
    json_close(out, '}');
}

void admin_put_rule(const struct script *script, size_t number, struct buf *out)
{
    const struct script_rule *rule = script_rule(script, number);
    const struct inventory_entry *place = script_rule_place(script, number);
    json_open(out, NULL, '{');
    json_text(out, "id", rule->id);
    json_text(out, "title", rule->title);
    json_text(out, "severity", severity_name(rule->severity));
    json_text(out, "category", rule->category);
    json_open(out, "kinds", '[');
    for (size_t i = 0; i < rule->kind_count; i++) json_text(out, NULL, claim_spec(rule->kinds[i])->kind);
    json_close(out, ']');
    admin_put_params(script, rule->id, out);
    json_text(out, "file", place && place->file ? place->file : script_path(script));
    json_int(out, "line", place ? place->line : 0);
    json_text(out, "why", rule->why);
    json_text(out, "how", rule->how);
    json_bool(out, "fix", rule->has_fix);
    put_ignore(rule, out);
    json_close(out, '}');
}

void admin_put_rules(const struct admin_engine *admin, struct buf *out)
{
    const struct managed_scripts *scripts = engine_scripts(admin->engine);
    json_open(out, "rules", '[');
    for (size_t i = 0; i < scripts->count; i++) {
        const struct script *script = scripts->items[i]->running;
        for (size_t j = 0; script && j < script_rule_count(script); j++) admin_put_rule(script, j, out);
    }
    json_close(out, ']');
}
