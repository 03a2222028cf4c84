/* Field selectors, which lua/sim/selectors.lua reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/convert.h"
#include "sim/object/selector_parts.h"
#include "sim/text/tree.h"

enum { DIGITS_MAX = 24 };

static enum sim_field field_of(const char *label)
{
    static const struct {
        const char *label;
        enum sim_field field;
    } strings[] = {{"metadata.name", SIM_FIELD_NAME},
                   {"metadata.namespace", SIM_FIELD_NAMESPACE},
                   {"status.phase", SIM_FIELD_PHASE},
                   {"spec.nodeName", SIM_FIELD_NODE_NAME}};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        if (strcmp(label, strings[i].label) == 0) return strings[i].field;
    return SIM_FIELD_OBJECT;
}

static json_t *kind_json(const struct sim_kind *kind)
{
    json_t *labels = kind->field_labels ? json_array() : NULL;
    for (const char *const *label = kind->field_labels; label && *label; label++)
        json_array_append_new(labels, json_string(*label));
    return json_pack("{so* sb sb ss*}", "labels", labels, "custom", kind->custom, "namespaced",
                     kind->namespaced, "type", kind->schema ? kind->schema->type : NULL);
}

struct sim_selector *sim_field_selector_parse(const struct sim_kind *kind, const char *text, char **message)
{
    *message = NULL;
    lua_State *L = sim_lua_take("sim.selectors", "fields");
    lua_pushstring(L, text ? text : "");
    sim_lua_push_new(L, kind_json(kind));
    struct sim_selector *selector = sim_selector_read(L, message);
    for (size_t i = 0; selector && i < selector->count; i++) {
        struct sim_requirement *r = &selector->all[i];
        char *stored = sim_stored_path(kind, r->key);
        r->field = field_of(r->key);
        selector->needs_object = selector->needs_object || r->field == SIM_FIELD_OBJECT;
        free(r->key);
        r->key = stored;
    }
    return selector;
}

/* Returns a field that is not a string in the object: flags, which are false when missing, and an event's
 * source. */
static const char *text_in_object(const json_t *object, const char *label, char digits[static DIGITS_MAX])
{
    const json_t *value = sim_at(object, label);
    if (strcmp(label, "spec.hostNetwork") == 0 || strcmp(label, "spec.unschedulable") == 0 ||
        json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    if (json_is_integer(value)) {
        snprintf(digits, DIGITS_MAX, "%lld", (long long)json_integer_value(value));
        return digits;
    }
    if (strcmp(label, "source") == 0) {
        const char *component = sim_text_at(object, "source.component");
        return *component ? component : sim_text_at(object, "reportingComponent");
    }
    return sim_text_at(value, "");
}

static const char *value_of(const struct sim_requirement *r, const struct sim_fields *fields,
                            char digits[static DIGITS_MAX])
{
    const char *text = NULL;
    switch (r->field) {
    case SIM_FIELD_NAME: text = fields->name; break;
    case SIM_FIELD_NAMESPACE: text = fields->namespace_; break;
    case SIM_FIELD_PHASE: text = fields->phase; break;
    case SIM_FIELD_NODE_NAME: text = fields->node_name; break;
    case SIM_FIELD_OBJECT: text = text_in_object(fields->object, r->key, digits); break;
    }
    return text ? text : "";
}

bool sim_selector_is_single(const struct sim_selector *selector, bool placed)
{
    bool named = false;
    for (size_t i = 0; i < selector->count; i++) {
        if (selector->all[i].op != SIM_IN) continue;
        named = named || selector->all[i].field == SIM_FIELD_NAME;
        placed = placed || selector->all[i].field == SIM_FIELD_NAMESPACE;
    }
    return named && placed;
}

bool sim_selector_matches_fields(const struct sim_selector *selector, const struct sim_fields *fields)
{
    char digits[DIGITS_MAX];
    for (size_t i = 0; i < selector->count; i++)
        if (!sim_requirement_holds(&selector->all[i], value_of(&selector->all[i], fields, digits)))
            return false;
    return true;
}
