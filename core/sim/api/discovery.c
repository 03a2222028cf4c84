/* Discovery in the legacy form: one answer per group and version; the aggregated form follows below. */
#include "sim/api/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/kinds/table.h"
#include "sim/text/tree.h"

static const char legacy_type[] = "application/json";

static json_t *strings(const char *const *list)
{
    json_t *array = json_array();
    for (; list && *list; list++) json_array_append_new(array, json_string(*list));
    return array;
}

void sim_discovery_names(json_t *resource, const struct sim_kind *kind)
{
    if (kind->short_names) json_object_set_new(resource, "shortNames", strings(kind->short_names));
    if (kind->categories) json_object_set_new(resource, "categories", strings(kind->categories));
}

json_t *sim_discovery_verbs(const struct sim_kind *kind)
{
    static const char *const all[] = {
        "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch", NULL};
    static const char *const each[] = {"create", "delete", "get", "list", "patch", "update", "watch", NULL};
    return strings(kind->no_delete_collection ? each : all);
}

json_t *sim_discovery_subresource_verbs(void)
{
    static const char *const verbs[] = {"get", "patch", "update", NULL};
    return strings(verbs);
}

const struct sim_kind *sim_discovery_next(const struct sim_discovered *d, const struct sim_kind *after,
                                          struct str group, struct str version)
{
    bool passed = after == NULL;
    for (size_t i = 0; i < d->n; i++) {
        const struct sim_kind *kind = d->kinds[i];
        bool wanted =
            !kind->gone && str_is(group, kind->group) && (!version.p || str_is(version, kind->version));
        if (passed && wanted) return kind;
        passed = passed || kind == after;
    }
    return NULL;
}

bool sim_discovery_first(const struct sim_discovered *d, size_t at, bool by_version)
{
    const struct sim_kind *kind = d->kinds[at];
    if (kind->gone) return false;
    for (size_t i = 0; i < at; i++) {
        const struct sim_kind *before = d->kinds[i];
        if (before->gone || strcmp(before->group, kind->group) != 0) continue;
        if (!by_version || strcmp(before->version, kind->version) == 0) return false;
    }
    return true;
}

static json_t *version_entry(const char *group, const char *version)
{
    return json_pack("{s:o,s:s}", "groupVersion", sim_textf("%s/%s", group, version), "version", version);
}

/* `apiVersion` is left out of the entries of a list of groups. */
static json_t *group_entry(const struct sim_discovered *d, const char *group, bool alone)
{
    json_t *entry = json_object(), *versions = json_array();
    for (size_t i = 0; i < d->n; i++) {
        if (strcmp(d->kinds[i]->group, group) == 0 && sim_discovery_first(d, i, true))
            json_array_append_new(versions, version_entry(group, d->kinds[i]->version));
    }
    if (alone) {
        json_object_set_new(entry, "kind", json_string("APIGroup"));
        json_object_set_new(entry, "apiVersion", json_string("v1"));
    }
    json_object_set_new(entry, "name", json_string(group));
    json_object_set_new(entry, "versions", versions);
    json_object_set(entry, "preferredVersion", json_array_get(versions, 0));
    return entry;
}

static json_t *groups(const struct sim_discovered *d)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < d->n; i++) {
        if (*d->kinds[i]->group && sim_discovery_first(d, i, false))
            json_array_append_new(entries, group_entry(d, d->kinds[i]->group, false));
    }
    return json_pack("{s:s,s:s,s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups", entries);
}

static json_t *resource_entry(const struct sim_kind *kind)
{
    json_t *entry =
        json_pack("{s:s,s:s,s:b,s:s,s:o}", "name", kind->plural, "singularName", kind->singular, "namespaced",
                  kind->namespaced, "kind", kind->kind, "verbs", sim_discovery_verbs(kind));
    sim_discovery_names(entry, kind);
    return entry;
}

static json_t *subresource_entry(const struct sim_kind *kind, const char *name)
{
    json_t *entry = json_pack("{s:o,s:s,s:b}", "name", sim_textf("%s/%s", kind->plural, name), "singularName",
                              "", "namespaced", kind->namespaced);
    bool scale = strcmp(name, "scale") == 0;
    if (scale) {
        json_object_set_new(entry, "group", json_string("autoscaling"));
        json_object_set_new(entry, "version", json_string("v1"));
    }
    json_object_set_new(entry, "kind", json_string(scale ? "Scale" : kind->kind));
    json_object_set_new(entry, "verbs", sim_discovery_subresource_verbs());
    return entry;
}

/* NULL when nothing is served there. */
static json_t *resources(const struct sim_discovered *d, struct str group, struct str version)
{
    const struct sim_kind *kind = sim_discovery_next(d, NULL, group, version);
    if (!kind) return NULL;
    json_t *list = json_object(), *entries = json_array();
    char *api_version = sim_api_version(kind);
    json_object_set_new(list, "kind", json_string("APIResourceList"));
    if (group.n) json_object_set_new(list, "apiVersion", json_string("v1"));
    json_object_set_new(list, "groupVersion", json_string(api_version));
    json_object_set_new(list, "resources", entries);
    free(api_version);
    for (; kind; kind = sim_discovery_next(d, kind, group, version)) {
        json_array_append_new(entries, resource_entry(kind));
        if (kind->has_scale) json_array_append_new(entries, subresource_entry(kind, "scale"));
        if (kind->has_status) json_array_append_new(entries, subresource_entry(kind, "status"));
    }
    return list;
}

static json_t *version_info(void)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "major", "1", "minor", "36", "gitVersion",
                     "v1.36.3", "gitCommit", "", "gitTreeState", "", "buildDate", "1970-01-01T00:00:00Z",
                     "goVersion", "", "compiler", "kubelua sim", "platform", "linux/amd64");
}

/* The core group has no list of groups of its own, but a list of versions. */
static json_t *core_versions(void)
{
    return json_pack("{s:s,s:[s],s:[]}", "kind", "APIVersions", "versions", "v1",
                     "serverAddressByClientCIDRs");
}

static json_t *below_apis(const struct sim_discovered *d, struct str path)
{
    struct str group, version;
    str_cut(&path, '/', &group);
    if (group.n == 0) return NULL;
    if (!str_cut(&path, '/', &version)) {
        const struct sim_kind *kind = sim_discovery_next(d, NULL, group, (struct str){0});
        return kind ? group_entry(d, kind->group, true) : NULL;
    }
    return path.p || version.n == 0 ? NULL : resources(d, group, version);
}

json_t *sim_discovery(const char *path, const char *accept, const struct sim_kind *const *kinds, size_t n,
                      const char **content_type)
{
    struct sim_discovered d = {kinds, n};
    struct str p = str_of(path), apis = STR("/apis/"), core = STR("/api/");
    if (p.n > 1 && p.p[p.n - 1] == '/') p.n--;
    *content_type = legacy_type;
    if (str_is(p, "/version")) return version_info();
    if (str_is(p, "/api") || str_is(p, "/apis")) {
        const char *aggregated = sim_discovery_aggregated_type(accept);
        if (aggregated) {
            *content_type = aggregated;
            return sim_discovery_aggregated(&d, str_is(p, "/api"), aggregated);
        }
        return str_is(p, "/api") ? core_versions() : groups(&d);
    }
    if (str_starts(p, apis)) return below_apis(&d, (struct str){p.p + apis.n, p.n - apis.n});
    if (str_starts(p, core)) return resources(&d, STR(""), (struct str){p.p + core.n, p.n - core.n});
    return NULL;
}

/* --- Discovery in the aggregated form: all groups, or the core group, in one answer */

static const char v2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
static const char v2beta1[] = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

const char *sim_discovery_aggregated_type(const char *accept)
{
    struct str rest = str_of(accept ? accept : ""), clause;
    while (str_cut(&rest, ',', &clause)) {
        struct sim_clause w = sim_read_clause(clause);
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
