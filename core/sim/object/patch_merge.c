/* RFC 7386: maps are merged, nulls remove, everything else replaces. */
#include "sim/object/patch.h"

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
