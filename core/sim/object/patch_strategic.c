/* Strategic merge patches, by a table of the lists that Kubernetes' own kinds have; see patch.h. */
#include <string.h>

#include "base/mem.h"
#include "sim/object/patch.h"
#include "sim/text/tree.h"

/* Fields whose lists are merged by a key of their elements. All other lists are replaced. */
static const struct {
    const char *field, *key, *otherwise; /* the second key counts where elements do not have the first */
} merged_lists[] = {
    {"containers", "name", NULL},
    {"initContainers", "name", NULL},
    {"ephemeralContainers", "name", NULL},
    {"volumes", "name", NULL},
    {"env", "name", NULL},
    {"imagePullSecrets", "name", NULL},
    {"volumeMounts", "mountPath", NULL},
    {"volumeDevices", "devicePath", NULL},
    {"ports", "containerPort", "port"},
    {"hostAliases", "ip", NULL},
    {"conditions", "type", NULL},
    {"ownerReferences", "uid", NULL},
    {"addresses", "type", NULL},
    {"secrets", "name", NULL},
    {"topologySpreadConstraints", "topologyKey", NULL},
};

static const char *key_of(const char *field, const json_t *patch)
{
    for (size_t i = 0; i < ARRAY_LEN(merged_lists); i++) {
        if (strcmp(field, merged_lists[i].field) != 0) continue;
        const json_t *first = json_array_get(patch, 0);
        bool has = json_object_get(first, merged_lists[i].key) || !merged_lists[i].otherwise;
        return has ? merged_lists[i].key : merged_lists[i].otherwise;
    }
    return NULL;
}

static bool directs(const json_t *patch, const char *what)
{
    return strcmp(sim_text_at(patch, "$patch"), what) == 0;
}

/* Returns the index of the element with the same key; `count` if there is none. */
static size_t place_of(const json_t *list, const char *key, const json_t *value)
{
    size_t i;
    json_t *element;
    json_array_foreach (list, i, element)
        if (json_equal(json_object_get(element, key), (json_t *)value)) return i;
    return json_array_size(list);
}

/* By merge key; elements without it are added. A new reference. */
static json_t *merge_list(const json_t *old, const json_t *patch, const char *key)
{
    json_t *result = json_is_array(old) ? json_deep_copy(old) : json_array(), *element;
    size_t i;
    json_array_foreach (patch, i, element) {
        const json_t *value = json_object_get(element, key);
        size_t at = value ? place_of(result, key, value) : json_array_size(result);
        bool there = at < json_array_size(result);
        if (directs(element, "replace")) {
            json_array_clear(result);
        } else if (directs(element, "delete")) {
            if (there) json_array_remove(result, at);
        } else {
            json_t *merged = sim_patch_strategic(there ? json_array_get(result, at) : NULL, element);
            if (there)
                json_array_set_new(result, at, merged);
            else
                json_array_append_new(result, merged);
        }
    }
    return result;
}

static json_t *merge_field(const char *field, const json_t *old, const json_t *patch)
{
    const char *key = json_is_array(patch) ? key_of(field, patch) : NULL;
    if (key) return merge_list(old, patch, key);
    return json_is_object(patch) ? sim_patch_strategic(old, patch) : json_deep_copy(patch);
}

#define ORDER "$setElementOrder/"

/* Elements that the order names come first, in it. The others keep their own. */
static void set_order(json_t *result, const char *field, const json_t *order)
{
    json_t *list = json_object_get(result, field), *sorted = json_array(), *element;
    const char *key = json_is_array(list) && json_array_size(order) ? key_of(field, order) : NULL;
    size_t i;
    if (key) {
        json_array_foreach (order, i, element) {
            size_t at = place_of(list, key, json_object_get(element, key));
            if (at == json_array_size(list)) continue;
            json_array_append(sorted, json_array_get(list, at));
            json_array_remove(list, at);
        }
        json_array_extend(sorted, list);
        json_object_set(result, field, sorted);
    }
    json_decref(sorted);
}

json_t *sim_patch_strategic(const json_t *old, const json_t *patch)
{
    bool anew = !json_is_object(old) || directs(patch, "replace");
    json_t *result = anew ? json_object() : json_deep_copy(old), *value;
    const char *field;
    json_object_foreach ((json_t *)patch, field, value) {
        if (*field == '$') continue; /* directives */
        if (json_is_null(value))
            json_object_del(result, field);
        else
            json_object_set_new(result, field, merge_field(field, json_object_get(result, field), value));
    }
    json_object_foreach ((json_t *)patch, field, value)
        if (strncmp(field, ORDER, strlen(ORDER)) == 0) set_order(result, field + strlen(ORDER), value);
    return result;
}

/* --- RFC 7386: maps are merged, nulls remove, everything else replaces */

json_t *sim_patch_merge(const json_t *target, const json_t *patch)
{
    if (!json_is_object(patch)) return json_deep_copy(patch);
    json_t *result = json_is_object(target) ? json_deep_copy(target) : json_object(), *value;
    const char *key;
    json_object_foreach ((json_t *)patch, key, value) {
        if (json_is_null(value))
            json_object_del(result, key);
        else
            json_object_set_new(result, key, sim_patch_merge(json_object_get(result, key), value));
    }
    return result;
}
