/* Quality of service classes; see quality.h. */
#include "sim/object/quality.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/text/tree.h"

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

static void look_at(const json_t *container, bool *any, bool *all_equal)
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
        look_at(container, &any, &all_equal);
    json_array_foreach (json_object_get(spec, "initContainers"), i, container)
        look_at(container, &any, &all_equal);
    if (!any) return "BestEffort";
    return all_equal ? "Guaranteed" : "Burstable";
}
