/* Values before an update; see structural_internal.h. */
#include <string.h>

#include "sim/text/tree.h"
#include "sim/validate/structural_internal.h"

static const json_t *schema_of(const json_t *schema, const char *key)
{
    const json_t *own = json_object_get(json_object_get(schema, "properties"), key),
                 *others = json_object_get(schema, "additionalProperties");
    return own || !json_is_object(others) ? own : others;
}

static bool is_map_list(const json_t *schema)
{
    return strcmp(sim_text_at(schema, "x-kubernetes-list-type"), "map") == 0;
}

const json_t *sim_structural_member(const json_t *schema, const json_t *old, const char *key)
{
    return schema_of(schema, key) ? json_object_get(old, key) : NULL;
}

static bool has_keys(const json_t *keys, const json_t *element, const json_t *other)
{
    json_t *key;
    size_t i;
    json_array_foreach ((json_t *)keys, i, key) {
        const json_t *value = json_object_get(element, json_string_value(key));
        bool scalar = value && !json_is_null(value) && !json_is_object(value) && !json_is_array(value);
        if (!scalar || !json_equal((json_t *)value, json_object_get(other, json_string_value(key))))
            return false;
    }
    return i > 0;
}

const json_t *sim_structural_element(const json_t *schema, const json_t *old, const json_t *element)
{
    const json_t *keys = json_object_get(schema, "x-kubernetes-list-map-keys");
    json_t *other;
    size_t i;
    if (!is_map_list(schema)) return NULL;
    json_array_foreach ((json_t *)old, i, other)
        if (has_keys(keys, element, other)) return other;
    return NULL;
}

bool sim_structural_same(const json_t *schema, const json_t *value, const json_t *old)
{
    bool maps = is_map_list(schema), same = json_typeof(value) == json_typeof(old);
    const char *key;
    json_t *item;
    size_t i;
    if (json_array_size(value) != json_array_size(old) || json_object_size(value) != json_object_size(old))
        return false;
    if (!json_is_object(value) && !(json_is_array(value) && maps))
        return json_equal((json_t *)value, (json_t *)old);
    json_array_foreach ((json_t *)value, i, item) {
        const json_t *before = sim_structural_element(schema, old, item);
        same = same && before && sim_structural_same(json_object_get(schema, "items"), item, before);
    }
    json_object_foreach ((json_t *)value, key, item) {
        const json_t *before = sim_structural_member(schema, old, key);
        same = same && before && sim_structural_same(schema_of(schema, key), item, before);
    }
    return same;
}
