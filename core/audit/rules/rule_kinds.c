/* Rules by the types of objects; see rule_kinds.h. */
#include "audit/rules/rule_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "audit/rules/fields.h"
#include "base/array.h"
#include "informer/shared/shared_factory.h"
#include "kube/kinds/catalogue.h"

/* Few, even in a cluster with many custom resources; the last one asked for is most often asked for again. */
struct kind_type {
    char *api_version, *kind;
    struct rule_type shared;
    struct kind_type *next;
};

struct rule_kinds {
    const struct catalogue *catalogue;
    const struct script_rule **rules;
    size_t count;
    struct kind_type *types;
    struct kind_type *last;
};

struct rule_kinds *rule_kinds_new(const struct catalogue *catalogue)
{
    struct rule_kinds *kinds = NEW(struct rule_kinds);
    kinds->catalogue = catalogue;
    return kinds;
}

void rule_kinds_free(struct rule_kinds *kinds)
{
    if (!kinds) return;
    for (struct kind_type *type = kinds->types, *next; type; type = next) {
        next = type->next;
        free(type->api_version);
        free(type->kind);
        free(type->shared.rules.items);
        fields_free(type->shared.fields);
        free(type);
    }
    free(kinds->rules);
    free(kinds);
}

void rule_kinds_add(struct rule_kinds *kinds, const struct script_rule *rule)
{
    *array_add(kinds->rules, kinds->count) = rule;
}

struct str rule_kinds_group(struct str group, struct str kind)
{
    static const char *const moved[][2] = {{"DaemonSet", "apps"},
                                           {"Deployment", "apps"},
                                           {"ReplicaSet", "apps"},
                                           {"Ingress", "networking.k8s.io"},
                                           {"NetworkPolicy", "networking.k8s.io"}};
    for (size_t i = 0; str_is(group, "extensions") && i < ARRAY_LEN(moved); i++)
        if (str_is(kind, moved[i][0])) return str_of(moved[i][1]);
    return group;
}

/* `is_known`: the catalogue has the name, for this type or for another. */
static bool means_in(const struct catalogue *catalogue, struct str name, struct str api_version,
                     struct str kind, bool *is_known)
{
    struct resource resource;
    struct err err;
    struct str group, version;
    *is_known = catalogue_resolve(catalogue, name, &resource, &err);
    if (!*is_known) return false;
    api_version_cut(api_version, &group, &version);
    bool has_version = memchr(name.p, '/', name.n) != NULL;
    bool is_group = str_is(group, resource.group) ||
                    (!has_version && str_is(rule_kinds_group(group, kind), resource.group));
    bool same =
        is_group && str_is(kind, resource.kind) && (!has_version || str_is(version, resource.version));
    resource_clear(&resource);
    return same;
}

/* Returns whether `name`, as a rule gives a kind, means objects of that type. */
static bool rule_kinds_means(const struct rule_kinds *kinds, struct str name, struct str api_version,
                             struct str kind)
{
    bool is_known;
    bool means = means_in(kinds->catalogue, name, api_version, kind, &is_known);
    if (is_known) return means;
    struct catalogue *own = catalogue_new();
    catalogue_add_guess(own, api_version, kind, true);
    catalogue_finish(own);
    means = means_in(own, name, api_version, kind, &is_known);
    catalogue_free(own);
    return means;
}

static bool takes(const struct rule_kinds *kinds, const struct script_rule *rule,
                  const struct kind_type *type)
{
    for (size_t i = 0; i < rule->kind_count; i++)
        if (rule_kinds_means(kinds, str_of(claim_spec(rule->kinds[i])->kind), str_of(type->api_version),
                             str_of(type->kind)))
            return true;
    return false;
}

bool rule_kinds_is_namespaced(const struct catalogue *catalogue, struct str api_version, struct str kind)
{
    struct resource resource;
    struct err err;
    struct buf name = {0};
    struct str group, version;
    api_version_cut(api_version, &group, &version);
    buf_printf(&name, "%.*s%s%.*s/%.*s", STR_ARG(group), group.n ? "/" : "", STR_ARG(version), STR_ARG(kind));
    bool known = catalogue_resolve(catalogue, buf_slice(&name), &resource, &err), namespaced = false;
    if (!known) known = catalogue_resolve(catalogue, kind, &resource, &err); /* an older version of it */
    buf_clear(&name);
    if (!known) return false;
    namespaced = resource.namespaced;
    resource_clear(&resource);
    return namespaced;
}

static struct kind_type *add_type(struct rule_kinds *kinds, struct str api_version, struct str kind)
{
    struct kind_type *type = NEW(struct kind_type);
    *type = (struct kind_type){.api_version = xstrndup(api_version.p, api_version.n),
                               .kind = xstrndup(kind.p, kind.n),
                               .next = kinds->types};
    struct rule_numbers *rules = &type->shared.rules;
    rules->items = xcalloc(kinds->count ? kinds->count : 1, sizeof *rules->items);
    for (size_t i = 0; i < kinds->count; i++)
        if (takes(kinds, kinds->rules[i], type)) rules->items[rules->count++] = (uint32_t)i;
    type->shared.is_namespaced = rule_kinds_is_namespaced(kinds->catalogue, api_version, kind);
    return kinds->types = type;
}

static bool is_type(const struct kind_type *type, struct str api_version, struct str kind)
{
    return str_is(kind, type->kind) && str_is(api_version, type->api_version);
}

struct rule_type *rule_kinds_of(struct rule_kinds *kinds, struct str api_version, struct str kind)
{
    struct kind_type *type = kinds->last;
    if (type && is_type(type, api_version, kind)) return &type->shared;
    for (type = kinds->types; type && !is_type(type, api_version, kind);) type = type->next;
    if (!type) type = add_type(kinds, api_version, kind);
    kinds->last = type;
    return &type->shared;
}

bool rule_kinds_have(const struct rule_kinds *kinds, struct str name)
{
    for (const struct kind_type *type = kinds->types; type; type = type->next)
        if (rule_kinds_means(kinds, name, str_of(type->api_version), str_of(type->kind))) return true;
    return false;
}
