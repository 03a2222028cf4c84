/* Kinds that every cluster has; see well_known.h. Those of core/schema/. */
#include "kube/kinds/well_known.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "kube/kinds/catalogue.h"
#include "schema/schema.h"

#define NO_SUCH_KIND "no kind \"%.*s\" in the built-in API groups"

/* Kinds of Kubernetes' own groups that were there once. */
static const char *const former[] = {
    "podschedulingcontexts", "PodSchedulingContext", "clustercidrs",
    "ClusterCIDR",           "podsecuritypolicies",  "PodSecurityPolicy",
};

static char **copy_of(const char *const *names)
{
    size_t count = 0;
    while (names[count]) count++;
    char **list = xcalloc(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) list[i] = xstrdup(names[i]);
    return list;
}

/* Is it what a server has, in the version that it prefers? */
static bool is_preferred(const struct schema_kind *kind)
{
    return kind->on && schema_kind(kind->group, NULL, kind->kind) == kind;
}

void well_known_add(struct catalogue *catalogue, bool core)
{
    size_t count;
    const struct schema_kind *kinds = schema_kinds(&count);
    for (unsigned i = 0, group = 0; i < count; i++) {
        if (i && strcmp(kinds[i].group, kinds[i - 1].group) != 0) group++;
        if (core != !*kinds[i].group || !is_preferred(&kinds[i])) continue;
        const struct resource resource = {(char *)kinds[i].group, (char *)kinds[i].version,
                                          (char *)kinds[i].plural, (char *)kinds[i].kind,
                                          kinds[i].namespaced};
        struct catalogue_entry *entry = array_add(catalogue->entries, catalogue->count);
        *entry = (struct catalogue_entry){
            .short_names = copy_of(kinds[i].short_names), .group_order = group, .sequence = i};
        resource_copy(&entry->resource, &resource);
    }
}

struct catalogue *catalogue_well_known(void)
{
    struct catalogue *catalogue = catalogue_new();
    well_known_add(catalogue, true);
    well_known_add(catalogue, false);
    catalogue_finish(catalogue);
    return catalogue;
}

static bool is_name(struct str name, const char *of)
{
    return strlen(of) == name.n && strncasecmp(of, name.p, name.n) == 0;
}

/* Returns whether a cluster serves `kind` only if it was enabled, or served it once:
 * "clustertrustbundles.certificates.k8s.io", "scheduling.k8s.io/v1alpha1/Workload". */
static bool is_optional(struct str kind)
{
    struct str name = kind, rest = kind;
    size_t count;
    const struct schema_kind *kinds = schema_kinds(&count);
    if (memchr(kind.p ? kind.p : "", '/', kind.n))
        while (str_cut(&rest, '/', &name)) continue;
    else
        str_cut(&rest, '.', &name);
    for (size_t i = 0; i < ARRAY_LEN(former); i++)
        if (is_name(name, former[i])) return true;
    for (size_t i = 0; i < count; i++) {
        bool named = is_name(name, kinds[i].plural) || is_name(name, kinds[i].kind);
        if (named && !schema_kind(kinds[i].group, NULL, kinds[i].kind)) return true;
    }
    return false;
}

bool well_known_refuses(const struct catalogue *catalogue, struct str kind, struct err *err)
{
    if (!catalogue_group_lacks(catalogue, kind) || is_optional(kind)) return false;
    err_set(err, ERR_NOT_FOUND, NO_SUCH_KIND, STR_ARG(kind));
    catalogue_explain(catalogue, kind, err);
    return true;
}

bool well_known_refuses_type(const struct catalogue *catalogue, struct str type, struct err *err)
{
    const char *meant = catalogue_kind_meant(catalogue, type);
    if (!meant) return well_known_refuses(catalogue, type, err);
    err_set(err, ERR_NOT_FOUND, NO_SUCH_KIND ", did you mean the kind \"%s\"?", STR_ARG(type), meant);
    return true;
}

void well_known_lacks(const struct catalogue *catalogue, struct str kind, struct err *err)
{
    err_set(err, ERR_NOT_FOUND, "\"%.*s\" is not a built-in kind", STR_ARG(kind));
    catalogue_explain(catalogue, kind, err);
}

bool well_known_may_have(const struct catalogue *catalogue, struct str kind)
{
    struct resource resource;
    struct err err;
    bool is_known = catalogue_resolve(catalogue, kind, &resource, &err);
    if (is_known) resource_clear(&resource);
    return is_known || (resource_name_has_group(kind) && !well_known_refuses(catalogue, kind, &err));
}
