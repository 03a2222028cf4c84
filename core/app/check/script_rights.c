/* From what a script registered to rights; see script_rights.h. */
#include "app/check/script_rights.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "informer/shared/shared_factory.h"
#include "script/inventory/inventory.h"
#include "script/rules/rule.h"
#include "script/server/declared.h"

const char *const rbac_verb_names[RBAC_VERBS] = {"get",    "list",  "watch", "create",
                                                 "update", "patch", "delete"};

struct scan {
    const struct script *script;
    const struct catalogue *catalogue;
    const struct script_rights_visitor *visitor;
};

static bool resolve(const struct scan *scan, struct str kind, const struct inventory_entry *place,
                    struct resource *out)
{
    struct err err;
    if (catalogue_resolve(scan->catalogue, kind, out, &err)) return true;
    if (scan->visitor->unknown) scan->visitor->unknown(scan->visitor->ctx, kind, place, &err);
    return false;
}

static void tell(const struct scan *scan, const struct script_right *right)
{
    scan->visitor->right(scan->visitor->ctx, right);
}

/* --- informers */

static void each_namespace(const struct scan *scan, const struct informer_spec *spec,
                           struct script_right *right)
{
    right->ns = right->namespaced && !spec->namespace_count ? spec->namespace_ : "";
    if (!right->namespaced || !spec->namespace_count) tell(scan, right);
    for (size_t i = 0; right->namespaced && i < spec->namespace_count; i++) {
        right->ns = spec->namespaces[i];
        tell(scan, right);
    }
}

/* To the server a list by the name alone is about that object. */
static const char *only_name(const struct informer_spec *spec)
{
    static const char by_name[] = "metadata.name=";
    const char *selector = spec->field_selector ? spec->field_selector : "";
    if (strncmp(selector, by_name, sizeof by_name - 1) != 0) return "";
    const char *name = selector + sizeof by_name - 1;
    return strpbrk(name, ",=! \\") ? "" : name;
}

static void add_claim(const struct scan *scan, size_t i)
{
    const struct informer_spec *spec = claim_spec(script_claim(scan->script, i));
    const struct inventory_entry *place = script_claim_place(scan->script, i);
    struct resource resource;
    if (!resolve(scan, str_of(spec->kind), place, &resource)) return;
    struct script_right right = {.group = resource.group,
                                 .resource = resource.plural,
                                 .name = only_name(spec),
                                 .verbs = RBAC_LIST | RBAC_WATCH,
                                 .namespaced = resource.namespaced,
                                 .what = spec->kind,
                                 .place = place};
    each_namespace(scan, spec, &right);
    resource_clear(&resource);
}

/* --- live reads and writes */

/* "x:apply" may make the object. "x:patch" does not ask for that, and a subresource is never made so. */
static unsigned write_verbs(const struct declared *write)
{
    static const struct {
        unsigned write, rbac;
    } pairs[] = {{WRITE_CREATE, RBAC_CREATE},
                 {WRITE_UPDATE, RBAC_UPDATE},
                 {WRITE_PATCH, RBAC_PATCH},
                 {WRITE_DELETE, RBAC_DELETE}};
    if (write->verbs == WRITE_APPLY) return *write->subresource ? RBAC_PATCH : RBAC_PATCH | RBAC_CREATE;
    unsigned verbs = 0;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (write->verbs & pairs[i].write) verbs |= pairs[i].rbac;
    return verbs;
}

static unsigned read_verbs(const struct declared *read)
{
    return (read->verbs & READ_GET ? RBAC_GET : 0) | (read->verbs & READ_LIST ? RBAC_LIST : 0) |
           (read->verbs & READ_WATCH ? RBAC_WATCH : 0);
}

/* "pods:list", "pods/status:patch": it may name any namespace when it is made. */
static void add_declared(const struct scan *scan, const struct declared *declared, enum inventory_class class,
                         unsigned verbs)
{
    const struct inventory_entry *place =
        inventory_find(script_inventory(scan->script), class, str_of(declared->text));
    struct resource resource = {0};
    bool is_any = strcmp(declared->kind, "*") == 0;
    if (!is_any && !resolve(scan, str_of(declared->kind), place, &resource)) return;
    char *name = xasprintf("%s%s%s", is_any ? "*" : resource.plural, *declared->subresource ? "/" : "",
                           declared->subresource);
    tell(scan, &(struct script_right){
                   .ns = "",
                   .group = is_any ? "*" : resource.group,
                   .resource = name,
                   .name = "",
                   .verbs = verbs,
                   .namespaced = is_any || resource.namespaced,
                   .what = declared->text,
                   .place = place,
               });
    free(name);
    if (!is_any) resource_clear(&resource);
}

/* --- Events, elections */

/* It knows of objects anywhere. */
static bool sees_everywhere(const struct script *script)
{
    bool everywhere = script_declared_reads(script)->count > 0 || script_declared_writes(script)->count > 0 ||
                      script_claim_count(script) == 0;
    for (size_t i = 0; i < script_claim_count(script) && !everywhere; i++) {
        const struct informer_spec *spec = claim_spec(script_claim(script, i));
        everywhere = !spec->namespace_count && !*spec->namespace_;
    }
    return everywhere;
}

/* Events are in the namespaces of what they tell of: those of the informers, when the script knows of nothing
 * else, for all that has none in "default". */
static void add_events(const struct scan *scan)
{
    struct script_right right = {.ns = "",
                                 .group = "",
                                 .resource = "events",
                                 .name = "",
                                 .verbs = RBAC_CREATE | RBAC_PATCH,
                                 .namespaced = true,
                                 .what = "k8s.event"};
    bool everywhere = sees_everywhere(scan->script);
    if (everywhere) tell(scan, &right);
    for (size_t i = 0; i < script_claim_count(scan->script) && !everywhere; i++) {
        const struct informer_spec *spec = claim_spec(script_claim(scan->script, i));
        struct resource resource;
        struct err err;
        if (!catalogue_resolve(scan->catalogue, str_of(spec->kind), &resource, &err)) continue;
        if (resource.namespaced) {
            each_namespace(scan, spec, &right);
        } else {
            right.ns = "default";
            tell(scan, &right);
        }
        resource_clear(&resource);
    }
}

/* L-10: what comes of an election is told as Events of its lease. */
static void add_election(const struct scan *scan)
{
    struct leadership_status status;
    const struct leadership *leadership = script_leadership(scan->script);
    const struct inventory *plan = script_inventory(scan->script);
    struct script_right right = {.namespaced = true, .what = "k8s.leader"};
    if (!leadership) return;
    leadership_get_status(leadership, &status);
    for (size_t i = 0; i < plan->count && !right.place; i++)
        if (plan->items[i].class == INVENTORY_LEADER) right.place = &plan->items[i];
    right.ns = status.namespace_;
    right.group = "coordination.k8s.io";
    right.resource = "leases";
    right.name = status.name;
    right.verbs = RBAC_GET | RBAC_CREATE | RBAC_UPDATE;
    tell(scan, &right);
    right.group = "";
    right.resource = "events";
    right.name = "";
    right.verbs = RBAC_CREATE;
    tell(scan, &right);
}

void script_each_right(const struct script *script, const struct catalogue *catalogue,
                       const struct script_rights_visitor *visitor)
{
    const struct scan scan = {script, catalogue, visitor};
    for (size_t i = 0; i < script_claim_count(script); i++) add_claim(&scan, i);
    const struct declarations *reads = script_declared_reads(script),
                              *writes = script_declared_writes(script);
    for (size_t i = 0; i < reads->count; i++)
        add_declared(&scan, &reads->items[i], INVENTORY_READ, read_verbs(&reads->items[i]));
    for (size_t i = 0; i < writes->count; i++)
        add_declared(&scan, &writes->items[i], INVENTORY_WRITE, write_verbs(&writes->items[i]));
    add_election(&scan);
    if (script_records_events(script)) add_events(&scan);
}

static void add_fix(const struct scan *scan, const struct informer_spec *spec)
{
    struct resource resource;
    struct err err;
    if (!catalogue_resolve(scan->catalogue, str_of(spec->kind), &resource, &err)) return;
    struct script_right right = {.group = resource.group,
                                 .resource = resource.plural,
                                 .name = "",
                                 .verbs = RBAC_PATCH,
                                 .namespaced = resource.namespaced,
                                 .what = spec->kind};
    each_namespace(scan, spec, &right);
    resource_clear(&resource);
}

void script_each_fix_right(const struct script *script, const struct catalogue *catalogue,
                           const struct script_rights_visitor *visitor)
{
    const struct scan scan = {script, catalogue, visitor};
    for (size_t i = 0; i < script_rule_count(script); i++) {
        const struct script_rule *rule = script_rule(script, i);
        for (size_t k = 0; rule->has_fix && k < rule->kind_count; k++)
            add_fix(&scan, claim_spec(rule->kinds[k]));
    }
}
