/* Rules for specs: of custom kinds, by tables, and immutable fields of a pod. */
#include "sim/object/object_spec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/convert.h"
#include "sim/object/crd.h"
#include "sim/object/metadata.h"
#include "sim/object/status.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"
#include "sim/validate/rules.h"
#include "sim/validate/scalars.h"
#include "sim/validate/structural.h"

/* The number or the text at a path of a scale: a server reads it whatever the schema says of the value. */
static void check_scaled(const json_t *object, const char *path, bool number, json_t *causes)
{
    char *copy = xstrdup(path), *rest = copy + strspn(copy, "."), *step;
    const json_t *value = object;
    const char *expected = number ? "int64" : "string";
    struct buf text = {0};
    buf_puts(&text, ".");
    while (json_is_object(value) && (step = strsep(&rest, "."))) {
        buf_printf(&text, "%s%s", text.len > 1 ? "." : "", step);
        value = json_object_get(value, step);
    }
    if (value && rest) buf_printf(&text, ".%.*s", (int)strcspn(rest, "."), rest);
    bool wrong =
        value && (rest ? !json_is_null(value) : !(number ? json_is_integer(value) : json_is_string(value)));
    json_t *shown = number ? json_integer(wrong ? 0 : json_integer_value(value)) : json_string("");
    if (wrong) {
        buf_puts(&text, " accessor error: ");
        sim_put_go_value(&text, value);
        buf_printf(&text, " is of the type %s, expected %s", sim_go_type(value),
                   rest ? "map[string]interface{}" : expected);
        json_array_append_new(causes, sim_cause("FieldValueInvalid", path, shown, buf_text(&text)));
    } else if (json_integer_value(value) < 0 || json_integer_value(value) > INT32_MAX)
        json_array_append_new(causes, sim_cause("FieldValueInvalid", path, shown,
                                                json_integer_value(value) < 0
                                                    ? "should be a non-negative integer"
                                                    : "should be less than or equal to 2147483647"));
    json_decref(shown);
    buf_clear(&text);
    free(copy);
}

static void check_scale(const json_t *scale, const json_t *object, bool of_status, json_t *causes)
{
    const char *selector = sim_text_at(scale, "labelSelectorPath");
    if (!of_status) check_scaled(object, sim_text_at(scale, "specReplicasPath"), true, causes);
    check_scaled(object, sim_text_at(scale, "statusReplicasPath"), true, causes);
    if (*selector) check_scaled(object, selector, false, causes);
}

json_t *sim_spec_causes(const struct sim_kind *kind, const json_t *old, const json_t *object, bool of_status)
{
    json_t *causes = json_array();
    if (sim_is_crd(kind)) sim_crd_check(object, causes);
    if (kind->structural) sim_structural_check(kind->structural, object, of_status, causes);
    if (kind->scale) check_scale(kind->scale, object, of_status, causes);
    if (!kind->structural) return causes;
    lua_State *L = sim_lua_take("sim.list_types", "problems");
    sim_lua_push(L, kind->structural);
    sim_lua_push(L, object);
    sim_lua_push(L, old);
    sim_add_causes(causes, L);
    return causes;
}

/* The rules are those of the stored version, as a real server has them. */
static void check_rules(const struct sim_kind *kind, const json_t *old, const json_t *object,
                        const json_t *given, json_t *causes)
{
    if (!kind->schema) return;
    json_t *stored = sim_to_stored(kind, json_incref((json_t *)object)),
           *before = old ? sim_to_stored(kind, json_incref((json_t *)old)) : NULL;
    sim_rules_check(kind->kind, before, stored, kind->conversion ? NULL : given, causes);
    json_decref(stored);
    json_decref(before);
}

void sim_add_rule_causes(const struct sim_kind *kind, const json_t *old, const json_t *object,
                         const json_t *given, json_t *causes)
{
    json_t *more = json_array(), *before = json_array(), *cause;
    size_t i;
    check_rules(kind, old, object, given, more);
    if (old && json_array_size(more)) check_rules(kind, NULL, old, NULL, before);
    json_array_foreach (more, i, cause)
        if (!sim_has_equal(before, cause)) json_array_append(causes, cause);
    json_decref(more);
    json_decref(before);
}

void sim_add_pod_change_causes(const json_t *old, const json_t *object, json_t *causes)
{
    lua_State *L = sim_lua_take("sim.pods", "changes");
    sim_lua_push(L, old);
    sim_lua_push(L, object);
    json_t *found = sim_lua_call(L);
    const char *field = sim_text_at(json_array_get(json_array_get(found, 0), 1), "");
    if (strcmp(field, "spec.containers") != 0)
        sim_rules_check("changed containers", old, object, NULL, causes);
    if (!strchr(field, '.')) sim_rules_check("changed pod", old, object, NULL, causes);
    sim_add_found(causes, found);
    json_decref(found);
}

void sim_pod_set_condition(json_t *pod, json_t *condition)
{
    json_t *status = sim_submap(pod, "status");
    sim_default(status, "conditions", json_array());
    json_t *conditions = json_object_get(status, "conditions"),
           *old = sim_find(conditions, "type", sim_text_at(condition, "type"));
    if (!old) json_array_append(conditions, condition);
    if (old) json_object_clear(old);
    if (old) json_object_update(old, condition);
    json_decref(condition);
}
