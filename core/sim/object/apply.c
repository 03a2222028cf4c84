/* Server-side apply; see apply.h. The owners of fields are in metadata.managedFields, as in the real server.
 */
#include "sim/object/apply.h"

#include <string.h>

#include "sim/object/patch.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"

/* {"a":{"b":1},"c":[]} is {"f:a":{"f:b":{}},"f:c":{}}. */
static json_t *fields_of(const json_t *value)
{
    json_t *fields = json_object(), *child;
    const char *key;
    json_object_foreach ((json_t *)value, key, child) {
        json_t *name = sim_textf("f:%s", key);
        json_object_set_new(fields, json_string_value(name), fields_of(child));
        json_decref(name);
    }
    return fields;
}

/* Returns the fields that the manager owns. The identity of an object has no manager. */
static json_t *owned_by(const json_t *given)
{
    json_t *fields = fields_of(given), *metadata = json_object_get(fields, "f:metadata");
    json_object_del(fields, "f:apiVersion");
    json_object_del(fields, "f:kind");
    json_object_del(metadata, "f:name");
    json_object_del(metadata, "f:namespace");
    return fields;
}

/* Returns the manager's entry; NULL if it has none. Borrowed. */
static json_t *entry_of(const json_t *object, const char *manager)
{
    json_t *entry;
    size_t i;
    json_array_foreach (sim_at(object, "metadata.managedFields"), i, entry)
        if (strcmp(sim_text_at(entry, "manager"), manager) == 0 &&
            strcmp(sim_text_at(entry, "operation"), "Apply") == 0)
            return entry;
    return NULL;
}

static void drop_gone(json_t *object, const json_t *fields, const json_t *given)
{
    json_t *below;
    const char *name;
    json_object_foreach ((json_t *)fields, name, below) {
        const char *key = name + 2;
        json_t *now = json_object_get(given, key);
        if (!now)
            json_object_del(object, key);
        else if (json_is_object(now))
            drop_gone(json_object_get(object, key), below, now);
    }
}

static void set_entry(json_t *object, const struct sim_apply *apply)
{
    json_t *entry = entry_of(object, apply->manager), *metadata = sim_submap(object, "metadata");
    json_t *entries = json_object_get(metadata, "managedFields");
    if (!json_is_array(entries)) json_object_set_new(metadata, "managedFields", entries = json_array());
    if (!entry) {
        entry = json_pack("{so ss}", "manager", sim_string(apply->manager), "operation", "Apply");
        json_array_append_new(entries, entry);
    }
    json_t *version = sim_string(sim_text_at(apply->given, "apiVersion"));
    json_object_update_new(entry, json_pack("{so ss so}", "apiVersion", version, "fieldsType", "FieldsV1",
                                            "fieldsV1", owned_by(apply->given)));
}

json_t *sim_applied(const json_t *old, const struct sim_apply *apply)
{
    json_t *bare = old ? json_deep_copy(old) : json_object();
    drop_gone(bare, json_object_get(entry_of(bare, apply->manager), "fieldsV1"), apply->given);
    json_t *object = sim_patch_merge(bare, apply->given);
    json_decref(bare);
    set_entry(object, apply);
    if (!old || !json_equal(object, old))
        json_object_set_new(entry_of(object, apply->manager), "time", sim_time(apply->now_s));
    return object;
}
