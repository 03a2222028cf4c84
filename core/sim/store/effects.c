/* CRDs and namespaces, as their controllers would treat them; see effects.h. */
#include "sim/store/effects.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
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

/* Definitions take their steps one after the other: two must not find the same name free. A step is a write,
 * which has effects of its own. */
static pthread_mutex_t definitions_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

struct crd_step {
    struct sim_api *api;
    const char *name;
    bool changes;
};

static json_t *stepped(void *ctx, const struct sim_kind *kind, const json_t *old, struct sim_refusal *refusal)
{
    struct crd_step *step = ctx;
    json_t *crd = json_deep_copy(old);
    sim_crd_do(step->name, crd, sim_now_s(step->api), step->api->store->definitions);
    step->changes = !json_equal(crd, old);
    return crd;
}

/* Takes a step of a definition, as the controllers within a server do after it has answered; returns whether
 * it is stored anew. */
static bool step_crd(struct sim_api *api, const char *key, const char *name)
{
    struct crd_step step = {.api = api, .name = name};
    struct sim_written written;
    struct sim_served *served =
        sim_store_found(api->store, "apiextensions.k8s.io", "v1", "customresourcedefinitions");
    sim_write_update(api, served, key, "status", stepped, &step,
                     (struct sim_writer){.manager = "kube-apiserver"}, &written);
    bool changed = step.changes && !written.refusal;
    sim_written_clear(api, &written);
    return changed;
}

/* Serves what is stored, whatever a request would be refused for, and as it is now: of two changes, the last
 * one to get here may be the first. */
static void look_at_crd(struct sim_api *api, const char *name)
{
    struct sim_kind **kinds = NULL;
    char *obstacle = NULL;
    pthread_mutex_lock(&definitions_lock);
    json_t *crd = sim_stored(api->store, crd_version, crds, name), *names = crd ? sim_crd_names(crd) : NULL;
    if (crd) json_object_set(api->store->definitions, name, names);
    /* a step that changes it looks at it again */
    bool again = sim_true_at(names, "unsettled") && step_crd(api, name, "establish");
    size_t n = crd && !again ? sim_crd_kinds(crd, &kinds, &obstacle) : 0;
    sim_store_lock(api->store);
    if (n) sim_store_serve(api->store, kinds, n);
    sim_store_unlock(api->store);
    pthread_mutex_unlock(&definitions_lock);
    if (obstacle) log_warn("Cannot serve a CustomResourceDefinition", F("name", name), F("reason", obstacle));
    json_decref(names);
    json_decref(crd);
    free(obstacle);
    free(kinds);
}

void sim_effects_stored(struct sim_api *api, const struct sim_served *served, const json_t *object)
{
    if (sim_is_crd(served->kind)) look_at_crd(api, sim_text_at(object, "metadata.name"));
}

/* --- The end of a definition */

/* Lets a definition go, if it is marked, after the last of its objects; `served` may be NULL. */
static void finish_crd(struct sim_api *api, const struct sim_served *served, const char *name)
{
    sim_store_lock(api->store);
    bool empty = !served || !served->resource->map;
    sim_store_unlock(api->store);
    if (empty) step_crd(api, name, "finish");
}

/* Ends what a definition that is gone defined, and gives its names to others. */
static void withdraw_crd(struct sim_api *api, const json_t *crd)
{
    const char *name = sim_text_at(crd, "metadata.name"), *other;
    json_t *all, *names;
    pthread_mutex_lock(&definitions_lock);
    sim_store_lock(api->store);
    sim_store_withdraw(api->store, sim_text_at(crd, "spec.group"), sim_text_at(crd, "spec.names.plural"));
    sim_store_unlock(api->store);
    json_object_del(api->store->definitions, name);
    look_at_crd(api, name); /* there is a new one of that name already */
    all = json_copy(api->store->definitions);
    json_object_foreach (all, other, names)
        if (sim_true_at(names, "unsettled")) step_crd(api, other, "establish");
    pthread_mutex_unlock(&definitions_lock);
    json_decref(all);
}

/* --- Namespaces */

/* Returns a served version of a resource, NULL behind the last one. */
static struct sim_served *served_at(struct sim_api *api, size_t at)
{
    sim_store_lock(api->store);
    struct sim_served *served = at < api->store->served_count ? api->store->served[at] : NULL;
    sim_store_unlock(api->store);
    return served;
}

/* Deletes the objects of one namespace (NULL: of all), in the version that is stored. */
static void delete_content(struct sim_api *api, const struct sim_served *served, const char *namespace_)
{
    const struct sim_resource *resource = served->resource;
    char *prefix = namespace_ ? xasprintf("%s/", namespace_) : xstrdup("");
    const size_t len = strlen(prefix);
    struct omap_cursor cursor;
    struct sim_written written;
    sim_store_lock(api->store);
    bool wanted = (!namespace_ || served->kind->namespaced) && served->kind == resource->kind;
    struct omap *map = wanted && resource->map ? omap_ref(resource->map) : NULL;
    sim_store_unlock(api->store);
    omap_seek(&cursor, map, prefix);
    for (const struct sim_object *o; (o = omap_next(&cursor)) && strncmp(o->key, prefix, len) == 0;) {
        sim_write_delete(api, served, o->key, NULL, false, &written);
        sim_written_clear(api, &written);
    }
    sim_store_lock(api->store);
    omap_unref(map);
    sim_store_unlock(api->store);
    free(prefix);
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

static void end_crd(struct sim_api *api, const json_t *crd)
{
    const char *name = sim_text_at(crd, "metadata.name"), *group = sim_text_at(crd, "spec.group"),
               *plural = sim_text_at(crd, "spec.names.plural");
    struct sim_served *content, *defined = NULL; /* the last one is the newest */
    step_crd(api, name, "clean");                /* after it no object is created any more */
    for (size_t i = 0; (content = served_at(api, i)); i++) {
        const struct sim_kind *kind = content->kind;
        if (!kind->custom || strcmp(kind->group, group) != 0 || strcmp(kind->plural, plural) != 0) continue;
        delete_content(api, content, NULL);
        defined = content;
    }
    finish_crd(api, defined, name);
}

void sim_effects_deleting(struct sim_api *api, const struct sim_served *served, const json_t *object)
{
    const char *name = sim_text_at(object, "metadata.name");
    struct sim_served *content;
    if (sim_is_crd(served->kind)) end_crd(api, object);
    if (!sim_is_namespace(served->kind)) return;
    for (size_t i = 0; (content = served_at(api, i)); i++) delete_content(api, content, name);
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
    if (sim_is_crd(served->kind)) withdraw_crd(api, object);
    if (served->kind->custom) { /* its definition may have begun to end since the request came */
        char *name = sim_qualified_resource(served->kind);
        finish_crd(api, served, name);
        free(name);
    }
    if (served->kind->namespaced) finish_namespace(api, sim_text_at(object, "metadata.namespace"));
}
