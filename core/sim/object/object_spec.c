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

json_t *sim_spec_causes(const struct sim_kind *kind, const json_t *old, const json_t *object, bool of_status)
{
    json_t *causes = json_array();
    if (sim_is_crd(kind)) sim_crd_check(object, old, of_status, causes);
    if (!kind->structural) return causes;
    sim_structural_check(kind->structural, object, old, of_status, causes);
    lua_State *L = sim_lua_take("sim.checks.custom", "problems");
    sim_lua_push(L, kind->structural);
    sim_lua_push(L, kind->scale);
    sim_lua_push(L, object);
    sim_lua_push(L, old);
    lua_pushboolean(L, of_status);
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
    sim_rules_check(kind->kind, before, stored, given, causes);
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
        if (json_is_null(cause) || !sim_has_equal(before, cause)) json_array_append(causes, cause);
    json_decref(more);
    json_decref(before);
}

void sim_add_pod_change_causes(const json_t *old, const json_t *object, json_t *causes)
{
    lua_State *L = sim_lua_take("sim.pods", "changes");
    sim_lua_push(L, old);
    sim_lua_push(L, object);
    json_t *found = sim_lua_found(L);
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
