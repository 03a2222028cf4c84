/* Discovery in the legacy form, one response per group and version, and in the aggregated form; see
 * discovery.h. */
#include "sim/api/discovery.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"
#include "base/text/base64.h"
#include "sim/kinds/table.h"
#include "sim/text/tree.h"

static const char legacy_type[] = "application/json";

struct discovered {
    const struct sim_kind *const *kinds;
    size_t n;
};

/* Returns an array; NULL for NULL. */
static json_t *strings(const char *const *list)
{
    json_t *array = list ? json_array() : NULL;
    for (; list && *list; list++) json_array_append_new(array, json_string(*list));
    return array;
}

static json_t *verbs_of(const struct sim_kind *kind)
{
    static const char *const all[] = {"delete", "deletecollection", "get",   "list", "patch",
                                      "create", "update",           "watch", NULL};
    return strings(kind->schema ? kind->schema->verbs : all);
}

/* Returns the kind after `after` (NULL: the first) of a group, and of a version unless that is {NULL, 0}. */
static const struct sim_kind *next_kind(const struct discovered *d, const struct sim_kind *after,
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

/* Is the kind at this place the first of its group, or of its group's version? */
static bool is_first(const struct discovered *d, size_t at, bool by_version)
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

/* Array of what `entry` returns for each version of a group. */
static json_t *versions_of(const struct discovered *d, const char *group,
                           json_t *(*entry)(const struct discovered *d, const char *group,
                                            const char *version))
{
    json_t *versions = json_array();
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->kinds[i]->group, group) == 0 && is_first(d, i, true))
            json_array_append_new(versions, entry(d, group, d->kinds[i]->version));
    return versions;
}

static json_t *version_entry(const struct discovered *d, const char *group, const char *version)
{
    return json_pack("{s:o,s:s}", "groupVersion", sim_textf("%s/%s", group, version), "version", version);
}

/* `apiVersion` is left out of the entries of a list of groups. */
static json_t *group_entry(const struct discovered *d, const char *group, bool alone)
{
    json_t *versions = versions_of(d, group, version_entry);
    return json_pack("{ss* ss* ss so sO}", "kind", alone ? "APIGroup" : NULL, "apiVersion",
                     alone ? "v1" : NULL, "name", group, "versions", versions, "preferredVersion",
                     json_array_get(versions, 0));
}

static json_t *groups(const struct discovered *d)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < d->n; i++)
        if (*d->kinds[i]->group && is_first(d, i, false))
            json_array_append_new(entries, group_entry(d, d->kinds[i]->group, false));
    return json_pack("{s:s,s:s,s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups", entries);
}

/* Of the version in which the objects are stored, by which clients tell that it has changed; NULL of what is
 * not stored. */
static json_t *storage_hash(const struct discovered *d, const struct sim_kind *kind)
{
    enum { KEPT = 8 };
    unsigned char digest[EVP_MAX_MD_SIZE];
    struct buf out = {0};
    if (kind->unstored) return NULL;
    for (size_t i = 0; i < d->n && kind->not_storage && !kind->stored; i++)
        if (!d->kinds[i]->gone && !d->kinds[i]->not_storage && strcmp(d->kinds[i]->group, kind->group) == 0 &&
            strcmp(d->kinds[i]->plural, kind->plural) == 0)
            kind = d->kinds[i];
    if (kind->stored) kind = kind->stored;
    char *name = xasprintf("%s/%s/%s", kind->group, kind->version, kind->kind);
    must(EVP_Digest(name, strlen(name), digest, NULL, EVP_sha256(), NULL));
    base64_encode((struct str){(const char *)digest, KEPT}, &out);
    json_t *hash = sim_string(buf_text(&out));
    buf_clear(&out);
    free(name);
    return hash;
}

static json_t *resource_entry(const struct discovered *d, const struct sim_kind *kind)
{
    return json_pack("{ss ss sb ss so so* so* so*}", "name", kind->plural, "singularName", kind->singular,
                     "namespaced", kind->namespaced, "kind", kind->kind, "verbs", verbs_of(kind),
                     "shortNames", strings(kind->short_names), "categories", strings(kind->categories),
                     "storageVersionHash", storage_hash(d, kind));
}

/* Sets group and version of what a subresource takes if they are not those of its resource. */
static bool is_foreign(const struct sim_kind *kind, const struct schema_subresource *sub, struct str *group,
                       struct str *version)
{
    *version = str_of(sub->version);
    if (sub->version && !str_cut(version, '/', group)) return false;
    return sub->version && version->p && !str_is(*group, kind->group);
}

static json_t *subresource_entry(const struct sim_kind *kind, const struct schema_subresource *sub)
{
    struct str group, version;
    bool foreign = is_foreign(kind, sub, &group, &version);
    return json_pack(
        "{so ss sb so* so* ss so}", "name", sim_textf("%s/%s", kind->plural, sub->name), "singularName", "",
        "namespaced", kind->namespaced, "group", foreign ? json_stringn(group.p, group.n) : NULL, "version",
        foreign ? json_stringn(version.p, version.n) : NULL, "kind", sub->kind, "verbs", strings(sub->verbs));
}

/* Returns the resources; NULL if nothing is served there. */
static json_t *resources(const struct discovered *d, struct str group, struct str version)
{
    const struct sim_kind *kind = next_kind(d, NULL, group, version);
    if (!kind) return NULL;
    json_t *entries = json_array();
    char *api_version = sim_api_version(kind);
    for (; kind; kind = next_kind(d, kind, group, version)) {
        json_array_append_new(entries, resource_entry(d, kind));
        struct schema_subresource sub;
        for (size_t at = 0; sim_next_subresource(kind, &at, &sub);)
            json_array_append_new(entries, subresource_entry(kind, &sub));
    }
    json_t *list = json_pack("{ss ss* ss so}", "kind", "APIResourceList", "apiVersion", group.n ? "v1" : NULL,
                             "groupVersion", api_version, "resources", entries);
    free(api_version);
    return list;
}

static json_t *version_info(void)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "major", "1", "minor", "36", "gitVersion",
                     "v1.36.3", "gitCommit", "", "gitTreeState", "", "buildDate", "1970-01-01T00:00:00Z",
                     "goVersion", "", "compiler", "kubelua sim", "platform", "linux/amd64");
}

/* Returns the versions of the core group, which has no list of groups. */
static json_t *core_versions(void)
{
    return json_pack("{s:s,s:[s],s:[]}", "kind", "APIVersions", "versions", "v1",
                     "serverAddressByClientCIDRs");
}

static json_t *below_apis(const struct discovered *d, struct str path)
{
    struct str group, version;
    str_cut(&path, '/', &group);
    if (group.n == 0) return NULL;
    if (!str_cut(&path, '/', &version)) {
        const struct sim_kind *kind = next_kind(d, NULL, group, (struct str){0});
        return kind ? group_entry(d, kind->group, true) : NULL;
    }
    return path.p || version.n == 0 ? NULL : resources(d, group, version);
}

/* --- The aggregated form: all groups, or the core group, in one response */

static const char v2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
static const char v2beta1[] = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/* Returns the content type of the aggregated form that an Accept header prefers, NULL if it prefers the
 * legacy one. */
static const char *aggregated_type(const char *accept)
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
static json_t *response_kind(const struct sim_kind *kind, const char *name)
{
    return json_pack("{s:s,s:s,s:s}", "group", kind->custom ? kind->group : "", "version",
                     kind->custom ? kind->version : "", "kind", name);
}

static json_t *subresource(const struct sim_kind *kind, const struct schema_subresource *sub)
{
    struct str group, version;
    json_t *response = is_foreign(kind, sub, &group, &version)
                           ? json_pack("{s:o,s:o,s:s}", "group", json_stringn(group.p, group.n), "version",
                                       json_stringn(version.p, version.n), "kind", sub->kind)
                           : response_kind(kind, sub->kind);
    return json_pack("{ss so so}", "subresource", sub->name, "responseKind", response, "verbs",
                     strings(sub->verbs));
}

static json_t *resource(const struct sim_kind *kind)
{
    json_t *subresources = json_array();
    struct schema_subresource sub;
    for (size_t at = 0; sim_next_subresource(kind, &at, &sub);)
        json_array_append_new(subresources, subresource(kind, &sub));
    if (json_array_size(subresources) == 0) {
        json_decref(subresources);
        subresources = NULL;
    }
    return json_pack("{ss so ss ss so so* so* so*}", "resource", kind->plural, "responseKind",
                     response_kind(kind, kind->kind), "scope", kind->namespaced ? "Namespaced" : "Cluster",
                     "singularResource", kind->singular, "verbs", verbs_of(kind), "shortNames",
                     strings(kind->short_names), "categories", strings(kind->categories), "subresources",
                     subresources);
}

static json_t *version(const struct discovered *d, const char *group, const char *name)
{
    json_t *resources = json_array();
    const struct sim_kind *kind = NULL;
    while ((kind = next_kind(d, kind, str_of(group), str_of(name))))
        json_array_append_new(resources, resource(kind));
    return json_pack("{s:s,s:o,s:s}", "version", name, "resources", resources, "freshness", "Current");
}

static json_t *aggregated(const struct discovered *d, bool core, const char *content_type)
{
    json_t *items = json_array();
    for (size_t i = 0; i < d->n; i++) {
        const char *group = d->kinds[i]->group;
        if (!*group == core && is_first(d, i, false))
            json_array_append_new(items, json_pack("{s{ss*} so}", "metadata", "name", nonempty(group),
                                                   "versions", versions_of(d, group, version)));
    }
    return json_pack("{s:s,s:s,s:{},s:o}", "kind", "APIGroupDiscoveryList", "apiVersion",
                     content_type == v2 ? "apidiscovery.k8s.io/v2" : "apidiscovery.k8s.io/v2beta1",
                     "metadata", "items", items);
}

json_t *sim_discovery(const char *path, const char *accept, const struct sim_kind *const *kinds, size_t n,
                      const char **content_type)
{
    struct discovered d = {kinds, n};
    struct str p = str_of(path), apis = STR("/apis/"), core = STR("/api/");
    if (p.n > 1 && p.p[p.n - 1] == '/') p.n--;
    *content_type = legacy_type;
    if (str_is(p, "/version")) return version_info();
    if (str_is(p, "/api") || str_is(p, "/apis")) {
        const char *type = aggregated_type(accept);
        if (type) {
            *content_type = type;
            return aggregated(&d, str_is(p, "/api"), type);
        }
        return str_is(p, "/api") ? core_versions() : groups(&d);
    }
    if (str_starts(p, apis)) return below_apis(&d, (struct str){p.p + apis.n, p.n - apis.n});
    if (str_starts(p, core)) return resources(&d, STR(""), (struct str){p.p + core.n, p.n - core.n});
    return NULL;
}
