/* Storing objects that were loaded; see load.h. */
#include "sim/store/load.h"

#include <stdlib.h>
#include <string.h>

#include "sim/store/effects.h"
#include "sim/store/write.h"
#include "sim/text/tree.h"
#include "sim/validate/decode.h"

static struct sim_served *find(struct sim_api *api, const json_t *object, struct err *err)
{
    const char *kind = sim_text_at(object, "kind"), *version = sim_text_at(object, "apiVersion");
    if (!json_is_object(object)) return err_set(err, ERR_INVALID, "not an object"), NULL;
    if (!*kind || !*version) return err_set(err, ERR_INVALID, "kind or apiVersion is missing"), NULL;
    sim_store_lock(api->store);
    struct sim_served *served = sim_store_of_kind(api->store, version, kind);
    sim_store_unlock(api->store);
    if (!served)
        err_set(err, ERR_INVALID,
                "kind %s of %s is unknown; a CustomResourceDefinition must come before its objects", kind,
                version);
    return served;
}

void sim_load_namespace(struct sim_api *api, const char *name)
{
    sim_store_lock(api->store);
    struct sim_served *served = sim_store_find(api->store, "", "v1", "namespaces");
    bool there = omap_get(served->resource->map, name) != NULL;
    sim_store_unlock(api->store);
    if (there) return;
    struct sim_written written;
    json_t *body =
        json_pack("{ss ss s{ss}}", "kind", "Namespace", "apiVersion", "v1", "metadata", "name", name);
    sim_write_create(api, served, NULL, body, (struct sim_writer){0}, &written);
    sim_written_clear(api, &written);
    json_decref(body);
}

/* Stores an object as it was in its cluster: with uid, times and status. Only the version is new. */
static void put(struct sim_api *api, const struct sim_served *served, json_t *object)
{
    struct sim_object *stored = sim_object_from_json(object);
    sim_store_lock(api->store);
    sim_store_put(api->store, served->resource, stored);
    sim_store_unlock(api->store);
    sim_effects_stored(api, served, object);
}

static bool load_list(struct sim_api *api, const json_t *list, struct err *err)
{
    size_t i;
    json_t *item;
    const char *kind = sim_text_at(list, "kind"), *version = sim_text_at(list, "apiVersion");
    json_array_foreach (json_object_get(list, "items"), i, item) {
        /* Items of a PodList have no kind of their own. */
        if (strcmp(kind, "List") != 0 && json_is_object(item)) {
            sim_default(item, "kind", json_stringn(kind, strlen(kind) - strlen("List")));
            sim_default(item, "apiVersion", json_string(version));
        }
        if (!sim_load_object(api, item, err)) return err_wrap(err, "item %zu", i + 1);
    }
    return true;
}

/* Kubernetes' own kinds have the types that a server would have them have. */
static bool check_types(const struct sim_served *served, const json_t *object, struct err *err)
{
    struct sim_decoding decoding = {0};
    const struct sim_kind *kind = served->kind;
    if (!kind->schema) return true;
    json_decref(sim_decode(schema_type_of_kind(kind->schema), object, &decoding));
    bool good =
        !decoding.error || err_set(err, ERR_INVALID, "%s in version \"%s\" cannot be handled as a %s: %s",
                                   kind->kind, kind->version, kind->kind, decoding.error);
    free(decoding.error);
    json_decref(decoding.unknown);
    return good;
}

bool sim_load_object(struct sim_api *api, json_t *object, struct err *err)
{
    struct str kind = str_of(sim_text_at(object, "kind"));
    if (str_ends(kind, STR("List")) && json_is_array(json_object_get(object, "items")))
        return load_list(api, object, err);
    struct sim_served *served = find(api, object, err);
    if (!served || (api->checks_loads && !check_types(served, object, err))) return false;
    if (!*sim_text_at(object, "metadata.name") && !*sim_text_at(object, "metadata.generateName"))
        return err_set(err, ERR_INVALID, "metadata.name is missing");
    if (served->kind->namespaced) {
        sim_default(json_object_get(object, "metadata"), "namespace", json_string("default"));
        sim_load_namespace(api, sim_text_at(object, "metadata.namespace"));
    }
    if (*sim_text_at(object, "metadata.uid")) {
        put(api, served, object);
        return true;
    }
    struct sim_written written;
    const char *namespace_ = served->kind->namespaced ? sim_text_at(object, "metadata.namespace") : NULL;
    sim_write_whole(api, served, namespace_, object, &written); /* it is new */
    return sim_write_accepted(api, &written, false, err);
}
