/* OpenAPI v3; see openapi.h. Documents are made when they are asked for: the index has hashes, by which
 * clients know whether theirs is still right. */
#include "sim/api/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "sim/text/tree.h"

/* The kinds that are served, which are never freed. */
struct openapi_kinds {
    const struct sim_kind **all;
    size_t count;
};

static struct openapi_kinds take_kinds(struct sim_api *api)
{
    sim_store_lock(api->store);
    struct openapi_kinds kinds = {.count = 0};
    kinds.all = xcalloc(api->store->served_count + 1, sizeof *kinds.all);
    for (size_t i = 0; i < api->store->served_count; i++)
        if (!api->store->served[i]->kind->gone) kinds.all[kinds.count++] = api->store->served[i]->kind;
    sim_store_unlock(api->store);
    return kinds;
}

/* "api/v1" or "apis/apps/v1"; a new string. */
static char *place_of(const struct sim_kind *kind)
{
    return *kind->group ? xasprintf("apis/%s/%s", kind->group, kind->version)
                        : xasprintf("api/%s", kind->version);
}

/* --- the index */

static uint64_t add_hash(uint64_t hash, const char *text)
{
    return hash_bytes(text, strlen(text)) ^ (hash << 5 | hash >> 59);
}

/* Changes with what the document has: kinds of the bundle are what they are. */
static uint64_t hash_of(const struct openapi_kinds *kinds, const struct sim_kind *of)
{
    uint64_t hash = add_hash(1, KUBELUA_VERSION);
    for (size_t i = 0; i < kinds->count; i++) {
        const struct sim_kind *kind = kinds->all[i];
        if (strcmp(kind->group, of->group) != 0 || strcmp(kind->version, of->version) != 0) continue;
        char *schema = kind->structural ? json_dumps(kind->structural, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        hash = add_hash(add_hash(hash, kind->kind), schema ? schema : "");
        free(schema);
    }
    return hash;
}

static json_t *index_of(const struct openapi_kinds *kinds)
{
    json_t *paths = json_object();
    for (size_t i = 0; i < kinds->count; i++) {
        char *place = place_of(kinds->all[i]);
        if (!json_object_get(paths, place)) {
            char *url = xasprintf("/openapi/v3/%s?hash=%016llX", place,
                                  (unsigned long long)hash_of(kinds, kinds->all[i]));
            json_object_set_new(paths, place, json_pack("{s:s}", "serverRelativeURL", url));
            free(url);
        }
        free(place);
    }
    return json_pack("{s:o}", "paths", paths);
}

/* --- a document */

static json_t *group_version_kind(const struct sim_kind *kind)
{
    return json_pack("{s:s, s:s, s:s}", "group", kind->group, "version", kind->version, "kind", kind->kind);
}

/* Adds the schema of a custom kind, with what every object has. */
static char *add_custom(json_t *schemas, const struct sim_kind *kind)
{
    char *group = xstrdup(kind->group), *meta = sim_openapi_add_type(schemas, "meta/v1.ObjectMeta"),
         *rest = group;
    char *name = xstrdup("");
    /* The parts of the group in reverse: example.com is com.example. */
    for (char *part; (part = strsep(&rest, "."));) {
        char *longer = xasprintf("%s%s%s", part, *name ? "." : "", name);
        free(name);
        name = longer;
    }
    char *whole = xasprintf("%s.%s.%s", name, kind->version, kind->kind);
    json_t *schema =
        kind->structural ? json_deep_copy(kind->structural) : json_pack("{s:s}", "type", "object");
    json_t *properties = sim_submap(schema, "properties");
    json_object_set_new(properties, "apiVersion", json_pack("{s:s}", "type", "string"));
    json_object_set_new(properties, "kind", json_pack("{s:s}", "type", "string"));
    json_object_set_new(properties, "metadata", json_pack("{s:[o]}", "allOf", sim_openapi_ref(meta)));
    json_object_set_new(schema, "x-kubernetes-group-version-kind",
                        json_pack("[o]", group_version_kind(kind)));
    json_object_set_new(schemas, whole, schema);
    free(group);
    free(meta);
    free(name);
    return whole;
}

static json_t *query(const char *name, const char *type)
{
    return json_pack("{s:s, s:s, s:{s:s, s:b}}", "name", name, "in", "query", "schema", "type", type,
                     "uniqueItems", true);
}

static json_t *operation(const struct sim_kind *kind, const char *action, const char *schema)
{
    json_t *reply = json_pack("{s:{s:s, s:{s:{s:o}}}}", "200", "description", "OK", "content",
                              "application/json", "schema", sim_openapi_ref(schema));
    json_t *parameters = strcmp(action, "get") == 0
                             ? json_array()
                             : json_pack("[o o o]", query("dryRun", "string"),
                                         query("fieldManager", "string"), query("fieldValidation", "string"));
    return json_pack("{s:s, s:o, s:o, s:o}", "x-kubernetes-action", action, "x-kubernetes-group-version-kind",
                     group_version_kind(kind), "parameters", parameters, "responses", reply);
}

static void add_paths(json_t *paths, const struct sim_kind *kind, const char *schema)
{
    char *place = place_of(kind);
    const char *inside = kind->namespaced ? "namespaces/{namespace}/" : "";
    char *all = xasprintf("/%s/%s%s", place, inside, kind->plural), *one = xasprintf("%s/{name}", all);
    json_object_set_new(paths, all,
                        json_pack("{s:o, s:o}", "get", operation(kind, "get", schema), "post",
                                  operation(kind, "post", schema)));
    if (!kind->unstored)
        json_object_set_new(paths, one,
                            json_pack("{s:o, s:o, s:o}", "get", operation(kind, "get", schema), "put",
                                      operation(kind, "put", schema), "patch",
                                      operation(kind, "patch", schema)));
    free(place);
    free(all);
    free(one);
}

/* Returns the document of a group and version, of which something is served. */
static json_t *document_of(const struct openapi_kinds *kinds, const char *place)
{
    json_t *paths = json_object(), *schemas = json_object();
    for (size_t i = 0; i < kinds->count; i++) {
        const struct sim_kind *kind = kinds->all[i];
        char *own = place_of(kind);
        if (strcmp(own, place) == 0) {
            char *schema =
                kind->schema ? sim_openapi_add_kind(schemas, kind->schema) : add_custom(schemas, kind);
            add_paths(paths, kind, schema);
            free(schema);
        }
        free(own);
    }
    return json_pack("{s:s, s:{s:s, s:s}, s:o, s:{s:o}}", "openapi", "3.0.0", "info", "title", "Kubernetes",
                     "version", "v1.36.3", "paths", paths, "components", "schemas", schemas);
}

/* A document that is requested by its hash stays as it is, and is sent once. */
static void respond(const struct openapi_kinds *kinds, const char *place, const struct sim_request *request,
                    struct sim_reply *reply)
{
    const struct sim_kind *kind = NULL;
    for (size_t i = 0; i < kinds->count && !kind; i++) {
        char *own = place_of(kinds->all[i]);
        if (strcmp(own, place) == 0) kind = kinds->all[i];
        free(own);
    }
    if (!kind) return;
    char etag[SIM_ETAG_MAX];
    snprintf(etag, sizeof etag, "\"%016llX\"", (unsigned long long)hash_of(kinds, kind));
    bool is_known = request->if_none_match && strcmp(request->if_none_match, etag) == 0;
    if (is_known)
        reply->code = 304;
    else
        reply->json = document_of(kinds, place);
    if (is_known || sim_query(request, "hash")) memcpy(reply->etag, etag, sizeof etag);
}

bool sim_openapi(struct sim_api *api, const struct sim_request *request, struct sim_reply *reply)
{
    static const char root[] = "/openapi/v3";
    size_t n = sizeof root - 1;
    if (strncmp(request->path, root, n) != 0 || (request->path[n] && request->path[n] != '/')) return false;
    struct openapi_kinds kinds = take_kinds(api);
    const char *place = request->path[n] ? request->path + n + 1 : "";
    if (*place)
        respond(&kinds, place, request, reply);
    else
        reply->json = index_of(&kinds);
    if (reply->json) reply->code = 200;
    free(kinds.all);
    return reply->code != 0;
}
