/* Discovery in the aggregated form: all groups, or the core group, in one answer. */
#include <string.h>

#include "base/mem.h"
#include "sim/api/discovery_parts.h"

static const char v2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
static const char v2beta1[] = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

struct wanted {
    struct str type, group, version, as;
};

static struct wanted read_clause(struct str clause)
{
    struct wanted w = {0};
    struct str part;
    str_cut(&clause, ';', &part);
    w.type = str_trim(part);
    while (str_cut(&clause, ';', &part)) {
        struct str key, value = part;
        str_cut(&value, '=', &key);
        key = str_trim(key);
        value = value.p ? str_trim(value) : STR("");
        if (str_is(key, "g")) w.group = value;
        if (str_is(key, "v")) w.version = value;
        if (str_is(key, "as")) w.as = value;
    }
    return w;
}

const char *sim_discovery_aggregated_type(const char *accept)
{
    struct str rest = str_of(accept ? accept : ""), clause;
    while (str_cut(&rest, ',', &clause)) {
        struct wanted w = read_clause(clause);
        if (!str_is(w.type, "application/json")) continue;
        if (w.as.n == 0) return NULL;
        if (!str_is(w.as, "APIGroupDiscoveryList") || !str_is(w.group, "apidiscovery.k8s.io")) continue;
        if (str_is(w.version, "v2")) return v2;
        if (str_is(w.version, "v2beta1")) return v2beta1;
    }
    return NULL;
}

/* The real server names group and version only for custom kinds; elsewhere they are those of the list's
 * place. */
static json_t *response_kind(const struct sim_kind *kind, bool scale)
{
    if (scale) return json_pack("{s:s,s:s,s:s}", "group", "autoscaling", "version", "v1", "kind", "Scale");
    return json_pack("{s:s,s:s,s:s}", "group", kind->custom ? kind->group : "", "version",
                     kind->custom ? kind->version : "", "kind", kind->kind);
}

static json_t *subresource(const struct sim_kind *kind, const char *name)
{
    return json_pack("{s:s,s:o,s:o}", "subresource", name, "responseKind",
                     response_kind(kind, strcmp(name, "scale") == 0), "verbs",
                     sim_discovery_subresource_verbs());
}

static json_t *resource(const struct sim_kind *kind)
{
    json_t *entry =
        json_pack("{s:s,s:o,s:s,s:s,s:o}", "resource", kind->plural, "responseKind",
                  response_kind(kind, false), "scope", kind->namespaced ? "Namespaced" : "Cluster",
                  "singularResource", kind->singular, "verbs", sim_discovery_verbs(kind));
    sim_discovery_names(entry, kind);
    if (!kind->has_scale && !kind->has_status) return entry;
    json_t *subresources = json_array();
    if (kind->has_scale) json_array_append_new(subresources, subresource(kind, "scale"));
    if (kind->has_status) json_array_append_new(subresources, subresource(kind, "status"));
    json_object_set_new(entry, "subresources", subresources);
    return entry;
}

static json_t *version(const struct sim_discovered *d, const char *group, const char *name)
{
    json_t *resources = json_array();
    const struct sim_kind *kind = NULL;
    while ((kind = sim_discovery_next(d, kind, str_of(group), str_of(name))))
        json_array_append_new(resources, resource(kind));
    return json_pack("{s:s,s:o,s:s}", "version", name, "resources", resources, "freshness", "Current");
}

static json_t *group(const struct sim_discovered *d, const char *name)
{
    json_t *metadata = json_object(), *versions = json_array();
    if (*name) json_object_set_new(metadata, "name", json_string(name));
    for (size_t i = 0; i < d->n; i++) {
        if (strcmp(d->kinds[i]->group, name) == 0 && sim_discovery_first(d, i, true))
            json_array_append_new(versions, version(d, name, d->kinds[i]->version));
    }
    return json_pack("{s:o,s:o}", "metadata", metadata, "versions", versions);
}

json_t *sim_discovery_aggregated(const struct sim_discovered *d, bool core, const char *content_type)
{
    json_t *items = json_array();
    for (size_t i = 0; i < d->n; i++) {
        bool is_core = *d->kinds[i]->group == '\0';
        if (is_core == core && sim_discovery_first(d, i, false))
            json_array_append_new(items, group(d, d->kinds[i]->group));
    }
    return json_pack("{s:s,s:s,s:{},s:o}", "kind", "APIGroupDiscoveryList", "apiVersion",
                     content_type == v2 ? "apidiscovery.k8s.io/v2" : "apidiscovery.k8s.io/v2beta1",
                     "metadata", "items", items);
}
