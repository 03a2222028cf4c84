/* Store and its watchers; see store.h. */
#include "sim/store/store.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/kinds/kinds.h"
#include "sim/object/convert.h"
#include "sim/object/crd.h"
#include "sim/text/text.h"

enum { HISTORY_EVENTS = 65536, HISTORY_BYTES = 256 << 20 };

void sim_store_lock(struct sim_store *store)
{
    pthread_mutex_lock(&store->lock);
}

void sim_store_unlock(struct sim_store *store)
{
    pthread_mutex_unlock(&store->lock);
}

static struct sim_resource *resource_new(struct sim_store *store, const struct sim_kind *kind)
{
    struct sim_resource *resource = NEW(struct sim_resource);
    resource->kind = kind;
    TAILQ_INIT(&resource->watchers);
    sim_history_init(&resource->history, store->options.history_events, store->options.history_bytes,
                     store->version);
    resource->next = store->resources;
    store->resources = resource;
    return resource;
}

static void serve(struct sim_store *store, const struct sim_kind *kind, struct sim_resource *resource)
{
    struct sim_served *served = NEW(struct sim_served);
    served->kind = kind;
    served->resource = resource;
    served->api_version = sim_api_version(kind);
    served->head = kind->custom
                       ? xasprintf("\"apiVersion\":\"%s\",\"kind\":\"%s\",", served->api_version, kind->kind)
                       : xasprintf("\"kind\":\"%s\",\"apiVersion\":\"%s\",", kind->kind, served->api_version);
    store->kinds = array_grow(store->kinds, store->served_count, sizeof *store->kinds);
    store->kinds[store->served_count] = kind;
    *array_add(store->served, store->served_count) = served;
}

struct sim_store *sim_store_new(const struct sim_store_options *options)
{
    struct sim_store *store = NEW(struct sim_store);
    const struct sim_kind_list *builtin = sim_builtin_kinds();
    store->options = *options;
    if (!store->options.history_events) store->options.history_events = HISTORY_EVENTS;
    if (!store->options.history_bytes) store->options.history_bytes = HISTORY_BYTES;
    store->version = options->first_version ? options->first_version : (uint64_t)clock_wall_us(clock_real());
    store->random = sim_random_seed(0, store->version);
    pthread_mutex_init(&store->lock, NULL);
    store->definitions = json_object();
    for (size_t i = 0; i < builtin->count; i++) {
        const struct sim_kind *kind = builtin->kinds[i], *stored = kind->stored;
        serve(store, kind,
              stored ? sim_store_find(store, stored->group, stored->version, stored->plural)->resource
                     : resource_new(store, kind));
    }
    return store;
}

static bool is(const struct sim_kind *kind, const char *group, const char *plural)
{
    return !kind->gone && strcmp(kind->plural, plural) == 0 && strcmp(kind->group, group) == 0;
}

static void wake_all(struct sim_resource *resource)
{
    struct sim_watcher *watcher;
    TAILQ_FOREACH (watcher, &resource->watchers, link) sim_watcher_wake(watcher);
}

static void end_all(struct sim_resource *resource)
{
    struct sim_watcher *watcher;
    TAILQ_FOREACH (watcher, &resource->watchers, link) watcher->ended = true;
    wake_all(resource);
}

/* Replaces the kinds of a changed CRD. The old ones stay allocated, as requests in flight still read them. */
static struct sim_resource *supersede(struct sim_store *store, const struct sim_kind *by)
{
    struct sim_resource *resource = NULL;
    for (size_t i = 0; i < store->served_count; i++) {
        struct sim_served *served = store->served[i];
        if (!served->kind->custom || !is(served->kind, by->group, by->plural)) continue;
        ((struct sim_kind *)served->kind)->gone = true; /* ours, as it came by sim_store_serve */
        resource = served->resource;
    }
    return resource;
}

/* Returns whether these versions, with the same one stored, are served already. */
static bool serves_the_same(struct sim_store *store, struct sim_kind *const *kinds, size_t n)
{
    size_t now = 0;
    for (size_t i = 0; i < store->served_count; i++)
        now += is(store->served[i]->kind, kinds[0]->group, kinds[0]->plural);
    for (size_t i = 0; i < n; i++) {
        const struct sim_kind *kind = kinds[i];
        const struct sim_served *served = sim_store_find(store, kind->group, kind->version, kind->plural);
        if (!served || served->kind->not_storage != kind->not_storage || served->kind->hidden != kind->hidden)
            return false;
    }
    return now == n;
}

/* Serves kinds. As on a real server, changed versions end the watches; clients of a removed version find out
 * by that. */
void sim_store_serve(struct sim_store *store, struct sim_kind *const *kinds, size_t n)
{
    const struct sim_kind *storage = kinds[0];
    for (size_t i = 0; i < n; i++)
        if (!kinds[i]->not_storage) storage = kinds[i];
    bool same = serves_the_same(store, kinds, n);
    struct sim_resource *resource = supersede(store, storage);
    if (resource && !same) end_all(resource);
    if (!resource) resource = resource_new(store, storage);
    resource->kind = storage;
    for (size_t i = 0; i < n; i++) serve(store, kinds[i], resource);
}

struct sim_served *sim_store_find(struct sim_store *store, const char *group, const char *version,
                                  const char *plural)
{
    for (size_t i = 0; i < store->served_count; i++) {
        const struct sim_kind *kind = store->served[i]->kind;
        if (is(kind, group, plural) && strcmp(kind->version, version) == 0) return store->served[i];
    }
    return NULL;
}

static bool is_named(const struct sim_kind *kind, const char *name)
{
    if (strcasecmp(kind->kind, name) == 0 || strcmp(kind->plural, name) == 0) return true;
    if (kind->singular && strcmp(kind->singular, name) == 0) return true;
    for (const char *const *s = kind->short_names; s && *s; s++)
        if (strcmp(*s, name) == 0) return true;
    return false;
}

struct sim_served *sim_store_found(struct sim_store *store, const char *group, const char *version,
                                   const char *plural)
{
    sim_store_lock(store);
    struct sim_served *served = sim_store_find(store, group, version, plural);
    sim_store_unlock(store);
    return served;
}

struct sim_served *sim_store_lookup(struct sim_store *store, const char *name)
{
    const char *dot = strchr(name, '.');
    char *bare = dot ? xstrndup(name, (size_t)(dot - name)) : xstrdup(name);
    struct sim_served *found = NULL;
    for (size_t i = 0; i < store->served_count && !found; i++) {
        const struct sim_kind *kind = store->served[i]->kind;
        if (kind->gone || kind->not_storage || !is_named(kind, bare)) continue;
        if (!dot || strcmp(kind->group, dot + 1) == 0) found = store->served[i];
    }
    free(bare);
    return found;
}

struct sim_served *sim_store_of_kind(struct sim_store *store, const char *api_version, const char *kind)
{
    for (size_t i = 0; i < store->served_count; i++) {
        struct sim_served *served = store->served[i];
        if (!served->kind->gone && strcmp(served->kind->kind, kind) == 0 &&
            strcmp(served->api_version, api_version) == 0)
            return served;
    }
    return NULL;
}

void sim_watcher_join(struct sim_watcher *watcher, struct sim_resource *resource, uint64_t next)
{
    watcher->resource = resource;
    watcher->next = next;
    watcher->ended = resource->gone;
    TAILQ_INSERT_TAIL(&resource->watchers, watcher, link);
}

void sim_watcher_leave(struct sim_watcher *watcher)
{
    TAILQ_REMOVE(&watcher->resource->watchers, watcher, link);
}

void sim_watcher_wake(struct sim_watcher *watcher)
{
    if (!watcher->asleep) return;
    watcher->asleep = false;
    must(eventfd_write(watcher->wake_fd, 1) == 0);
}

/* Takes `map`, `object` and `before`. */
static void publish(struct sim_resource *resource, enum sim_event_type type, struct sim_object *object,
                    struct sim_object *before, struct omap *map)
{
    omap_unref(resource->map);
    resource->map = omap_ref(map);
    sim_history_add(&resource->history, &(struct sim_event){object->version, type, object, before, map});
    wake_all(resource);
}

struct sim_object *sim_store_put(struct sim_store *store, struct sim_resource *resource,
                                 struct sim_object *object)
{
    struct sim_object *before = omap_get(resource->map, object->key);
    sim_object_set_version(object, ++store->version);
    if (before) sim_object_ref(before);
    struct omap *map = omap_put(resource->map, sim_object_ref(object));
    publish(resource, before ? SIM_MODIFIED : SIM_ADDED, object, before, map);
    return object;
}

struct sim_object *sim_store_ref(struct sim_store *store, const struct sim_resource *resource,
                                 const char *key)
{
    sim_store_lock(store);
    struct sim_object *object = resource->gone ? NULL : omap_get(resource->map, key);
    if (object) sim_object_ref(object);
    sim_store_unlock(store);
    return object;
}

json_t *sim_served_json(const struct sim_served *served, const struct sim_object *object)
{
    return sim_from_stored(served->kind, sim_object_json(object, served->kind->kind, served->api_version));
}

json_t *sim_stored(struct sim_store *store, const char *api_version, const char *kind, const char *key)
{
    sim_store_lock(store);
    const struct sim_served *served = sim_store_of_kind(store, api_version, kind);
    const struct sim_object *object = served ? omap_get(served->resource->map, key) : NULL;
    json_t *whole = object ? sim_served_json(served, object) : NULL;
    sim_store_unlock(store);
    return whole;
}

bool sim_store_has_text(struct sim_store *store, const struct sim_resource *resource, const char *key,
                        const char *text)
{
    struct omap_cursor cursor;
    struct str spec;
    bool found = false;
    sim_store_lock(store);
    omap_seek(&cursor, resource->map, "");
    for (const struct sim_object *object; !found && (object = omap_next(&cursor));)
        found = strcmp(object->key, key) != 0 &&
                sim_text_member((struct str){object->text, object->len}, "spec", &spec) &&
                memmem(spec.p, spec.n, text, strlen(text));
    sim_store_unlock(store);
    return found;
}

json_t *sim_stored_all(struct sim_store *store, const char *api_version, const char *kind)
{
    json_t *all = json_array();
    struct omap_cursor cursor;
    sim_store_lock(store);
    const struct sim_served *served = sim_store_of_kind(store, api_version, kind);
    struct omap *map = served && served->resource->map ? omap_ref(served->resource->map) : NULL;
    sim_store_unlock(store);
    omap_seek(&cursor, map, "");
    for (const struct sim_object *object; (object = omap_next(&cursor));)
        json_array_append_new(all, sim_served_json(served, object));
    sim_store_lock(store);
    omap_unref(map);
    sim_store_unlock(store);
    return all;
}

void sim_store_release(struct sim_store *store, struct sim_object *object)
{
    sim_store_lock(store);
    sim_object_unref(object);
    sim_store_unlock(store);
}

bool sim_store_remove(struct sim_store *store, struct sim_resource *resource, const char *key)
{
    struct sim_object *before = omap_get(resource->map, key);
    if (!before) return false;
    struct sim_object *last = sim_object_renew(before, (struct str){0}, (struct str){0});
    struct omap *map = omap_remove(resource->map, key);
    /* A delete has a version of its own, which the last state carries, as in etcd. */
    sim_object_set_version(last, ++store->version);
    publish(resource, SIM_DELETED, last, sim_object_ref(before), map);
    return true;
}

void sim_store_fill(struct sim_store *store, struct sim_resource *resource, struct sim_object *const *objects,
                    size_t n)
{
    must(!resource->map && resource->history.next == resource->history.first);
    /* Without history: watches from before the fill receive 410 and list. */
    resource->map = omap_build(objects, n);
    sim_history_expire(&resource->history, store->version, resource->map);
}

void sim_store_compact(struct sim_store *store)
{
    for (struct sim_resource *r = store->resources; r; r = r->next)
        sim_history_compact(&r->history, store->version);
}

void sim_store_expire(struct sim_store *store, struct sim_resource *resource)
{
    store->version++; /* so that the newest version sent so far is too old too */
    for (struct sim_resource *r = store->resources; r; r = r->next) {
        if (resource && r != resource) continue;
        sim_history_expire(&r->history, store->version, r->map);
        end_all(r);
    }
}

void sim_store_end_watches(struct sim_store *store, struct sim_resource *resource)
{
    for (struct sim_resource *r = store->resources; r; r = r->next)
        if (!resource || r == resource) end_all(r);
}

void sim_store_stop(struct sim_store *store)
{
    store->stopping = true;
    sim_store_end_watches(store, NULL);
}

void sim_store_withdraw(struct sim_store *store, const char *group, const char *plural)
{
    struct sim_kind named = {.group = group, .plural = plural};
    struct sim_resource *resource = supersede(store, &named);
    if (!resource) return;
    while (resource->map) {
        struct omap_cursor first;
        omap_seek(&first, resource->map, "");
        sim_store_remove(store, resource, omap_next(&first)->key);
    }
    resource->gone = true;
    end_all(resource);
}

static void resource_free(struct sim_resource *resource)
{
    must(TAILQ_EMPTY(&resource->watchers));
    sim_history_clear(&resource->history);
    omap_unref(resource->map);
    free(resource);
}

void sim_store_free(struct sim_store *store)
{
    if (!store) return;
    for (struct sim_resource *r = store->resources, *next; r; r = next) {
        next = r->next;
        resource_free(r);
    }
    for (size_t i = 0; i < store->served_count; i++) {
        if (store->served[i]->kind->custom) sim_kind_free((struct sim_kind *)store->kinds[i]);
        free(store->served[i]->head);
        free(store->served[i]->api_version);
        free(store->served[i]);
    }
    free(store->served);
    free(store->kinds);
    json_decref(store->definitions);
    pthread_mutex_destroy(&store->lock);
    free(store);
}
