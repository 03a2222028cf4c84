/* Rules for specs: required and immutable fields of a pod, and of a CRD. */
#include "sim/object/object_spec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/crd.h"
#include "sim/object/metadata.h"
#include "sim/object/status.h"
#include "sim/text/tree.h"
#include "sim/validate/rules.h"
#include "sim/validate/structural.h"

/* Returns the causes. A pod that was loaded without containers may stay so. */
json_t *sim_spec_causes(const struct sim_kind *kind, const json_t *old, const json_t *object)
{
    json_t *causes = json_array();
    bool bare = old && json_array_size(sim_at(old, "spec.containers")) == 0;
    if (kind->graceful && !bare && json_array_size(sim_at(object, "spec.containers")) == 0)
        json_array_append_new(causes, sim_cause("FieldValueRequired", "spec.containers", NULL, ""));
    if (sim_is_crd(kind)) sim_crd_check(object, causes);
    if (kind->structural) sim_structural_check(kind->structural, object, causes);
    return causes;
}

void sim_add_rule_causes(const struct sim_kind *kind, const json_t *old, const json_t *object, json_t *causes)
{
    json_t *more = json_array(), *before = json_array(), *known = json_copy(causes), *cause;
    size_t i;
    if (kind->schema) sim_rules_check(kind->kind, object, more);
    if (old && json_array_size(more)) sim_rules_check(kind->kind, old, before);
    json_array_foreach (more, i, cause)
        if (!sim_has_equal(known, cause) && !sim_has_equal(before, cause)) json_array_append(causes, cause);
    json_decref(known);
    json_decref(more);
    json_decref(before);
}

/* Returns the part of a pod's spec that may not change: a copy without the fields that may. */
static json_t *fixed_part(const json_t *pod)
{
    static const char *const lists[] = {"containers", "initContainers"};
    static const char *const free_fields[] = {"activeDeadlineSeconds", "tolerations",
                                              "terminationGracePeriodSeconds", "schedulingGates"};
    json_t *spec = json_deep_copy(json_object_get(pod, "spec")), *container;
    size_t i;
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach (json_object_get(spec, lists[l]), i, container)
            json_object_del(container, "image");
    for (i = 0; i < ARRAY_LEN(free_fields); i++) json_object_del(spec, free_fields[i]);
    return spec;
}

json_t *sim_spec_change_causes(const struct sim_kind *kind, const json_t *old, const json_t *object)
{
    json_t *causes = json_array();
    if (kind->schema) sim_rules_check_change(kind->kind, old, object, causes);
    if (!kind->graceful || json_equal(json_object_get(old, "spec"), json_object_get(object, "spec")))
        return causes;
    json_t *before = fixed_part(old), *after = fixed_part(object);
    if (!json_equal(before, after))
        json_array_append_new(
            causes, sim_cause("FieldValueForbidden", "spec", NULL,
                              "pod updates may not change fields other than `spec.containers[*].image`,"
                              "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations`"
                              " (only additions "
                              "to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
                              "set to 1 if it "
                              "was previously negative)"));
    json_decref(before);
    json_decref(after);
    return causes;
}

/* --- Quality of service classes */

/* "500m", "1Gi", 2: as a double, which is exact enough to see whether a limit and a request are the same. 0
 * for none. */
static double amount(const json_t *quantity)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {
        {"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},    {"k", 1e3},     {"M", 1e6},
        {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10}, {"Mi", 0x1p20},
        {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
    };
    char *end;
    if (json_is_number(quantity)) return json_number_value(quantity);
    double number = strtod(sim_text_at(quantity, ""), &end);
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (strcmp(end, suffixes[i].suffix) == 0) return number * suffixes[i].factor;
    return 0;
}

static void compare_resources(const json_t *container, bool *any, bool *all_equal)
{
    static const char *const resources[] = {"cpu", "memory"};
    for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
        double limit = amount(json_object_get(sim_at(container, "resources.limits"), resources[i]));
        double request = amount(json_object_get(sim_at(container, "resources.requests"), resources[i]));
        *any = *any || limit > 0 || request > 0;
        *all_equal = *all_equal && limit > 0 && limit == request;
    }
}

const char *sim_quality_of_service(const json_t *spec)
{
    bool any = false, all_equal = true;
    json_t *container;
    size_t i;
    json_array_foreach (json_object_get(spec, "containers"), i, container)
        compare_resources(container, &any, &all_equal);
    json_array_foreach (json_object_get(spec, "initContainers"), i, container)
        compare_resources(container, &any, &all_equal);
    if (!any) return "BestEffort";
    return all_equal ? "Guaranteed" : "Burstable";
}
