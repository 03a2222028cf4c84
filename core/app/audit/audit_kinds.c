/* Names of kinds; see audit_kinds.h. */
#include "app/audit/audit_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/text/terminal.h"
#include "informer/shared/shared_factory.h"
#include "kube/kinds/resource.h"
#include "kube/kinds/well_known.h"
#include "script/inventory/inventory.h"

enum { LINE_COLUMNS = 100 };

static bool is_lacking(const struct catalogue *known, const struct informer_claim *claim, bool of_files)
{
    if (claim_resource(claim)) return !claim_has_synced(claim) || claim_refused(claim);
    return !of_files || !well_known_may_have(known, str_of(claim_spec(claim)->kind));
}

/* The first of what the rule uses that is not there; NULL: all is. */
static const struct informer_claim *find_lacking(const struct catalogue *known,
                                                 const struct script_rule *rule, bool of_files)
{
    for (size_t u = 0; u < rule->use_count; u++)
        if (is_lacking(known, rule->uses[u].claim, of_files)) return rule->uses[u].claim;
    return NULL;
}

void audit_kinds_leave_out_rule(struct auditor *auditor, uint32_t rule, const char *nobody,
                                const struct informer_claim *uses)
{
    char *reason = xasprintf("%s %s, which it uses", nobody, claim_spec(uses)->kind);
    auditor_leave_out(auditor, rule, reason);
    free(reason);
}

void audit_kinds_name_rule(struct buf *ids, const char *id)
{
    buf_printf(ids, "%s%s", ids->len ? ", " : "", id);
}

size_t audit_kinds_leave_out(const struct audit_scripts *scripts, bool of_files, const char *nobody,
                             struct buf *ids)
{
    struct catalogue *known = catalogue_well_known();
    uint32_t number = 0; /* in the table */
    size_t left_out = 0;
    for (size_t s = 0; s < scripts->count; s++)
        for (size_t i = 0; i < script_rule_count(scripts->items[s]); i++, number++) {
            const struct script_rule *rule = script_rule(scripts->items[s], i);
            const struct informer_claim *lacks = find_lacking(known, rule, of_files);
            if (!lacks) continue;
            audit_kinds_leave_out_rule(scripts->auditor, number, nobody, lacks);
            audit_kinds_name_rule(ids, rule->id);
            left_out++;
        }
    catalogue_free(known);
    return left_out;
}

/* Lines behind the first stand in a little. */
static void put_folded(struct buf *out, struct str text)
{
    struct str line;
    for (bool first = true; terminal_wrap(&text, LINE_COLUMNS, &line); first = false)
        buf_printf(out, "%s%.*s", first ? "" : "\n  ", STR_ARG(line));
}

void audit_kinds_put_left_out(size_t count, const char *nobody, const struct buf *ids, struct buf *out)
{
    bool one = count == 1;
    struct buf text = {0};
    buf_printf(&text, "%zu rule%s not evaluated because %s what %s: ", count, one ? " was" : "s were", nobody,
               one ? "it uses" : "they use");
    buf_str(&text, buf_slice(ids));
    put_folded(out, buf_slice(&text));
    buf_clear(&text);
}

/* --- what is told */

struct reporting {
    struct catalogue *known;
    struct buf names; /* that were told or need not be, each behind a line end */
    const struct script *script;
    size_t rule;
    const struct auditor *auditor; /* of files */
    bool ok;
    const struct catalogue *server;
    const struct audit_kinds_sink *sink;
    struct buf absent; /* ", " between them */
};

static bool is_new(struct reporting *t, struct str name)
{
    char *line = xasprintf("\n%.*s\n", STR_ARG(name));
    bool found = strstr(buf_text(&t->names), line) != NULL;
    if (!found) buf_puts(&t->names, line);
    free(line);
    return !found;
}

/* "rules.lua:3: rule one: " */
static void put_place(const struct reporting *t, struct buf *out)
{
    const struct inventory_entry *place = script_rule_place(t->script, t->rule);
    buf_printf(out, "%s:%d: rule %s: ", place && place->file ? place->file : script_path(t->script),
               place ? place->line : 0, script_rule(t->script, t->rule)->id);
}

static void each_of_rules(struct reporting *t, struct script *const *scripts, size_t count,
                          void (*fn)(struct reporting *t, struct str kind))
{
    for (size_t s = 0; s < count; s++) {
        t->script = scripts[s];
        for (t->rule = 0; t->rule < script_rule_count(t->script); t->rule++) {
            const struct script_rule *rule = script_rule(t->script, t->rule);
            for (size_t k = 0; k < rule->kind_count; k++) fn(t, str_of(claim_spec(rule->kinds[k])->kind));
            for (size_t u = 0; u < rule->use_count; u++) fn(t, str_of(claim_spec(rule->uses[u].claim)->kind));
        }
    }
}

static void reporting_clear(struct reporting *t)
{
    catalogue_free(t->known);
    buf_clear(&t->names);
    buf_clear(&t->absent);
}

/* --- of files */

static void check(struct reporting *t, struct str kind)
{
    struct err err;
    struct buf text = {0};
    if (!is_new(t, kind) || well_known_may_have(t->known, kind) || auditor_has_seen(t->auditor, kind)) return;
    put_place(t, &text);
    well_known_lacks(t->known, kind, &err);
    fprintf(stderr, "kubelua audit: %s%s, and the input has no objects of that kind\n", buf_text(&text),
            err.text);
    buf_clear(&text);
    t->ok = false;
}

bool audit_kinds_check(const struct audit_scripts *scripts)
{
    struct reporting t = {.known = catalogue_well_known(), .auditor = scripts->auditor, .ok = true};
    each_of_rules(&t, scripts->items, scripts->count, check);
    reporting_clear(&t);
    return t.ok;
}

/* --- of a server */

/* A server has no objects of a kind that may be when it is known to have told all of its kinds. */
static void report(struct reporting *t, struct str kind)
{
    struct resource resource;
    struct err err;
    if (!is_new(t, kind)) return;
    if (catalogue_resolve(t->server, kind, &resource, &err)) {
        resource_clear(&resource);
        return;
    }
    if (err.code == ERR_NOT_FOUND && well_known_may_have(t->known, kind) && !*catalogue_failures(t->server)) {
        buf_printf(&t->absent, "%s%.*s", t->absent.len ? ", " : "", STR_ARG(kind));
        return;
    }
    struct buf text = {0};
    if (t->script) put_place(t, &text);
    catalogue_explain(t->server, kind, &err);
    buf_puts(&text, err.text);
    t->sink->missing(t->sink->ctx, buf_text(&text));
    buf_clear(&text);
}

void audit_kinds_report_missing(struct script *const *scripts, size_t count,
                                const struct shared_factory *factory, const struct catalogue *catalogue,
                                const struct audit_kinds_sink *sink)
{
    struct reporting t = {.known = catalogue_well_known(), .server = catalogue, .sink = sink};
    const struct informer_claim *claim = NULL;
    each_of_rules(&t, scripts, count, report);
    t.script = NULL;
    while ((claim = shared_factory_next_claim(factory, claim))) report(&t, str_of(claim_spec(claim)->kind));
    if (t.absent.len) {
        struct buf text = {0}, folded = {0};
        buf_printf(&text, "the server has no %s", buf_text(&t.absent));
        put_folded(&folded, buf_slice(&text));
        sink->absent(sink->ctx, buf_text(&folded));
        buf_clear(&folded);
        buf_clear(&text);
    }
    reporting_clear(&t);
}

/* --- Kinds and namespaces of rules */

/* Takes the resource. */
static void add(struct audit_targets *targets, struct resource *resource, const char *ns,
                struct indexer *cache)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct audit_target *other = &targets->items[i];
        if (!resource_equal(&other->resource, resource) || strcmp(other->namespace_, ns) != 0) continue;
        resource_clear(resource);
        return;
    }
    *array_add(targets->items, targets->count) = (struct audit_target){*resource, ns, cache};
}

static void add_kind(struct audit_targets *targets, const struct catalogue *catalogue,
                     struct informer_claim *claim)
{
    struct resource resource;
    struct err err;
    if (!catalogue_resolve(catalogue, str_of(claim_spec(claim)->kind), &resource, &err)) return;
    add(targets, &resource, resource.namespaced ? claim_spec(claim)->namespace_ : "", claim_indexer(claim));
}

void audit_targets_find(struct audit_targets *targets, const struct audit_scripts *scripts,
                        const struct catalogue *catalogue)
{
    uint32_t number = 0; /* in the table */
    for (size_t s = 0; s < scripts->count; s++)
        for (size_t i = 0; i < script_rule_count(scripts->items[s]); i++) {
            const struct script_rule *rule = script_rule(scripts->items[s], i);
            if (auditor_leaves_out(scripts->auditor, number++)) continue;
            for (size_t k = 0; k < rule->kind_count; k++) add_kind(targets, catalogue, rule->kinds[k]);
        }
}

void audit_targets_clear(struct audit_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) resource_clear(&targets->items[i].resource);
    free(targets->items);
    *targets = (struct audit_targets){0};
}
