/* CRDs and namespaces, as their controllers would treat them; see effects.h. */
#include "sim/store/effects.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/object/crd.h"
#include "sim/object/status.h"
#include "sim/store/write.h"
#include "sim/text/tree.h"

/* Returns a namespace, with the store's lock; borrowed, or NULL. */
static const struct sim_object *find_namespace(struct sim_api *api, const char *name)
{
    struct sim_served *namespaces = sim_store_find(api->store, "", "v1", "namespaces");
    return omap_get(namespaces->resource->map, name);
}

json_t *sim_effects_namespace_refuses(struct sim_api *api, const struct sim_kind *kind,
                                      const char *namespace_, const char *name)
{
    struct sim_kind namespaces = {.group = "", .plural = "namespaces"};
    sim_store_lock(api->store);
    const struct sim_object *object = find_namespace(api, namespace_);
    bool ending = object && strcmp(object->phase, "Terminating") == 0;
    sim_store_unlock(api->store);
    if (!object) return sim_status_not_found(&namespaces, namespace_);
    if (!ending) return NULL;
    char *why =
        xasprintf("unable to create new content in namespace %s because it is being terminated", namespace_);
    json_t *status = sim_status_forbidden(kind, name, why);
    free(why);
    return status;
}

static const char crds[] = "CustomResourceDefinition", crd_version[] = "apiextensions.k8s.io/v1";

struct crd_step {
    struct sim_api *api;
    const char *name;
};

static json_t *stepped(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    const struct crd_step *step = ctx;
    json_t *crd = json_deep_copy(old), *all = sim_stored_all(step->api->store, crd_version, crds);
    sim_crd_do(step->name, crd, clock_wall_us(sim_clock(step->api)) / 1000000, all);
    json_decref(all);
    return crd;
}

/* Takes a step of a definition, as the controllers within a server do after it has answered. */
static void step_crd(struct sim_api *api, const char *key, const char *name)
{
    struct crd_step step = {api, name};
    struct sim_written written;
    sim_store_lock(api->store);
    struct sim_served *served = sim_store_of_kind(api->store, crd_version, crds);
    sim_store_unlock(api->store);
    sim_write_update(api, served, key, "status", stepped, &step,
                     (struct sim_writer){.manager = "kube-apiserver"}, &written);
    sim_written_clear(api, &written);
}

void sim_effects_stored(struct sim_api *api, const struct sim_served *served, const json_t *object)
{
    struct sim_kind **kinds = NULL;
    char *message = NULL;
    const char *name = sim_text_at(object, "metadata.name");
    if (!sim_is_crd(served->kind)) return;
    if (sim_crd_is_unsettled(object)) step_crd(api, name, "establish");
    json_t *now = sim_stored(api->store, crd_version, crds, name);
    bool same = json_equal(json_object_get(now, "status"), json_object_get(object, "status"));
    json_decref(now);
    if (!same) return; /* it was an effect of that */
    size_t n = sim_crd_kinds(object, &kinds, &message);
    sim_store_lock(api->store);
    if (n) sim_store_serve(api->store, kinds, n);
    sim_store_unlock(api->store);
    free(message); /* the body was checked before it was stored */
    free(kinds);
}

/* --- The end of a definition */

/* Lets a definition go that is marked, after the last of its objects; `served` may be NULL. */
static void finish_crd(struct sim_api *api, const struct sim_served *served, const char *name)
{
    json_t *crd = sim_stored(api->store, crd_version, crds, name);
    sim_store_lock(api->store);
    bool empty = !served || !served->resource->map;
    sim_store_unlock(api->store);
    if (empty && *sim_text_at(crd, "metadata.deletionTimestamp")) step_crd(api, name, "finish");
    json_decref(crd);
}

/* Gives the names that have become free to others. */
static void settle_others(struct sim_api *api)
{
    json_t *all = sim_stored_all(api->store, crd_version, crds), *crd;
    size_t i;
    json_array_foreach (all, i, crd)
        if (sim_crd_is_unsettled(crd)) step_crd(api, sim_text_at(crd, "metadata.name"), "establish");
    json_decref(all);
}

/* --- Namespaces */

/* Returns all keys of one namespace (NULL: of all) in one resource: new strings; the array ends with NULL. */
static char **keys_in(struct sim_api *api, struct sim_resource *resource, const char *namespace_)
{
    char *prefix = namespace_ ? xasprintf("%s/", namespace_) : xstrdup(""), **keys = NULL;
    size_t n = 0, len = strlen(prefix);
    struct omap_cursor cursor;
    sim_store_lock(api->store);
    omap_seek(&cursor, resource->map, prefix);
    for (;;) {
        const struct sim_object *object = omap_next(&cursor);
        char *key = object && strncmp(object->key, prefix, len) == 0 ? xstrdup(object->key) : NULL;
        *array_add(keys, n) = key;
        if (!key) break;
    }
    sim_store_unlock(api->store);
    free(prefix);
    return keys;
}

/* Returns the stored version of this resource; NULL if it is no longer served. */
static struct sim_served *served_at(struct sim_api *api, size_t at)
{
    struct sim_served *served = NULL;
    sim_store_lock(api->store);
    if (at < api->store->served_count) served = api->store->served[at];
    bool wanted = served && served->kind->namespaced && !served->kind->not_storage && !served->kind->gone;
    sim_store_unlock(api->store);
    return wanted ? served : NULL;
}

static void delete_content(struct sim_api *api, const struct sim_served *served, const char *namespace_)
{
    char **keys = keys_in(api, served->resource, namespace_);
    for (size_t i = 0; keys[i]; i++) {
        struct sim_written written;
        sim_write_delete(api, served, keys[i], NULL, false, &written);
        sim_written_clear(api, &written);
        free(keys[i]);
    }
    free(keys);
}

static bool is_empty(struct sim_api *api, const char *namespace_)
{
    char *prefix = xasprintf("%s/", namespace_);
    bool empty = true;
    sim_store_lock(api->store);
    for (const struct sim_resource *r = api->store->resources; r && empty; r = r->next) {
        struct omap_cursor cursor;
        omap_seek(&cursor, r->map, prefix);
        const struct sim_object *first = omap_next(&cursor);
        empty = !first || strncmp(first->key, prefix, strlen(prefix)) != 0;
    }
    sim_store_unlock(api->store);
    free(prefix);
    return empty;
}

static json_t *without_finalizers(void *ctx, const struct sim_kind *kind, const json_t *old,
                                  struct sim_refusal *refusal)
{
    json_t *object = json_deep_copy(old);
    json_object_set_new(sim_submap(object, "spec"), "finalizers", json_array());
    return object;
}

/* Removes a namespace after the last of its content. */
static void finish_namespace(struct sim_api *api, const char *namespace_)
{
    struct sim_written written;
    sim_store_lock(api->store);
    const struct sim_object *object = find_namespace(api, namespace_);
    bool ending = object && strcmp(object->phase, "Terminating") == 0;
    struct sim_served *namespaces = sim_store_find(api->store, "", "v1", "namespaces");
    sim_store_unlock(api->store);
    if (!ending || !is_empty(api, namespace_)) return;
    sim_write_update(api, namespaces, namespace_, "finalize", without_finalizers, NULL,
                     (struct sim_writer){0}, &written);
    sim_written_clear(api, &written);
}

void sim_effects_deleting(struct sim_api *api, const struct sim_served *served, const json_t *object)
{
    const char *name = sim_text_at(object, "metadata.name");
    size_t count;
    if (sim_is_crd(served->kind)) {
        step_crd(api, name, "clean");
        sim_store_lock(api->store);
        struct sim_served *defined = sim_store_lookup(api->store, name); /* NULL: none is served */
        sim_store_unlock(api->store);
        if (defined) delete_content(api, defined, NULL);
        finish_crd(api, defined, name);
    }
    if (!sim_is_namespace(served->kind)) return;
    sim_store_lock(api->store);
    count = api->store->served_count;
    sim_store_unlock(api->store);
    for (size_t i = 0; i < count; i++) {
        struct sim_served *content = served_at(api, i);
        if (content) delete_content(api, content, name);
    }
    finish_namespace(api, name);
}

/* A server removes the Endpoints of a service with it. */
static void delete_endpoints(struct sim_api *api, const json_t *service)
{
    struct sim_written written;
    struct sim_served *endpoints = sim_store_found(api->store, "", "v1", "endpoints");
    char *key =
        xasprintf("%s/%s", sim_text_at(service, "metadata.namespace"), sim_text_at(service, "metadata.name"));
    sim_write_delete(api, endpoints, key, NULL, false, &written);
    sim_written_clear(api, &written);
    free(key);
}

void sim_effects_removed(struct sim_api *api, const struct sim_served *served, const json_t *object)
{
    if (served->kind->schema && strcmp(served->kind->schema->type, "core/v1.Service") == 0)
        delete_endpoints(api, object);
    if (sim_is_crd(served->kind)) {
        sim_store_lock(api->store);
        sim_store_withdraw(api->store, sim_text_at(object, "spec.group"),
                           sim_text_at(object, "spec.names.plural"));
        sim_store_unlock(api->store);
        settle_others(api);
    }
    if (served->kind->ending) {
        char *name = sim_qualified_resource(served->kind);
        finish_crd(api, served, name);
        free(name);
    }
    if (served->kind->namespaced) finish_namespace(api, sim_text_at(object, "metadata.namespace"));
}
