/* Kinds that scripts name, against those that there are; see check.h. */
#include <stdlib.h>
#include <string.h>

#include "app/check/check.h"
#include "base/mem.h"
#include "informer/shared/shared_factory.h"
#include "kube/kinds/well_known.h"
#include "script/inventory/plan.h"
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
    findings_add(scan->findings, at.file, at.line, true,
                 "%s; name a server, or a dump by --against, to be sure", err.text);
}

/* A kind with a group may come later at a start; that it is not there now is what a check is for. */
static void check_kind(const struct kinds_scan *scan, const char *kind, const struct plan_entry *entry)
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
        findings_add(scan->findings, at.file, at.line, false, "%s", err.text);
    free(quoted);
}

/* Rules share claims: a claim's place is that of the first. */
static void check_rule(const struct kinds_scan *scan, const struct script *script, size_t i)
{
    const struct script_rule *rule = script_rule(script, i);
    const struct plan_entry *entry = script_rule_place(script, i);
    for (size_t k = 0; k < rule->kind_count; k++) check_kind(scan, claim_spec(rule->kinds[k])->kind, entry);
    for (size_t u = 0; u < rule->use_count; u++)
        check_kind(scan, claim_spec(rule->uses[u].claim)->kind, entry);
}

void check_kinds(const struct script *script, const char *file, const struct catalogue *catalogue,
                 bool is_whole, struct findings *findings)
{
    const struct kinds_scan scan = {file, catalogue, is_whole, findings};
    const struct plan *plan = script_plan(script);
    for (size_t i = 0; i < script_claim_count(script); i++)
        check_kind(&scan, claim_spec(script_claim(script, i))->kind, script_claim_place(script, i));
    for (size_t i = 0; i < script_rule_count(script); i++) check_rule(&scan, script, i);
    for (size_t i = 0; i < script_read_count(script); i++) {
        struct str rest = str_of(script_read(script, i)), kind;
        str_cut(&rest, ':', &kind);
        char *name = xstrndup(kind.p, kind.n);
        check_kind(&scan, name, plan_find(plan, PLAN_READ, str_of(script_read(script, i))));
        free(name);
    }
    for (size_t i = 0; i < script_write_count(script); i++) {
        const struct declared_write *write = script_write_parts(script, i);
        check_kind(&scan, write->kind, plan_find(plan, PLAN_WRITE, str_of(write->text)));
    }
}
