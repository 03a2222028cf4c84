/* Kinds that a CustomResourceDefinition defines; its problems and its status are those of lua/sim/crds.lua.
 */
#include "sim/object/crd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/object/metadata.h"
#include "sim/object/status.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"
#include "sim/validate/structural.h"

bool sim_is_crd(const struct sim_kind *kind)
{
    return strcmp(kind->kind, "CustomResourceDefinition") == 0 &&
           strcmp(kind->group, "apiextensions.k8s.io") == 0;
}

/* Labels of field selectors: the paths without their dot; ends with NULL. */
static const char *const *labels_of(const json_t *fields)
{
    size_t n = json_array_size(fields), i;
    const char **labels = n ? xcalloc(n + 1, sizeof *labels) : NULL;
    for (i = 0; i < n; i++) {
        const char *path = sim_text_at(json_array_get(fields, i), "jsonPath");
        labels[i] = xstrdup(path + (*path == '.'));
    }
    return labels;
}

static char *deprecation_of(const struct sim_kind *kind, const json_t *version)
{
    const char *text = sim_text_at(version, "deprecationWarning");
    if (!sim_true_at(version, "deprecated")) return NULL;
    return *text ? xstrdup(text)
                 : xasprintf("%s/%s %s is deprecated", kind->group, kind->version, kind->kind);
}

static struct sim_kind *kind_of(const json_t *crd, const json_t *version)
{
    bool accepted = *sim_text_at(crd, "status.acceptedNames.plural");
    const json_t *spec = json_object_get(crd, "spec"),
                 *names = sim_at(crd, accepted ? "status.acceptedNames" : "spec.names");
    struct sim_kind *kind = sim_kind_new(sim_text_at(spec, "group"), sim_text_at(version, "name"), names);
    json_t *columns = json_deep_copy(json_object_get(version, "additionalPrinterColumns")), *column;
    size_t i;
    json_array_foreach (columns, i, column) json_object_del(column, "cell"); /* for kinds of our own */
    kind->namespaced = strcmp(sim_text_at(spec, "scope"), "Namespaced") == 0;
    kind->has_status = json_is_object(sim_at(version, "subresources.status"));
    kind->scale = json_deep_copy(sim_at(version, "subresources.scale"));
    kind->has_scale = json_is_object(kind->scale);
    kind->field_labels = labels_of(json_object_get(version, "selectableFields"));
    kind->deprecation = deprecation_of(kind, version);
    kind->has_generation = true;
    kind->needs_version = true;
    kind->custom = true;
    kind->ending = *sim_text_at(crd, "metadata.deletionTimestamp");
    kind->hidden = !sim_true_at(version, "served");
    kind->not_storage = !sim_true_at(version, "storage");
    kind->printer_columns = columns;
    kind->structural = json_deep_copy(sim_at(version, "schema.openAPIV3Schema"));
    return kind;
}

/* Makes a function of lua/sim/crds.lua ready. */
static lua_State *ready(const char *function, const json_t *crd)
{
    lua_State *L = sim_lua_take("sim.crds", function);
    sim_lua_push(L, crd);
    return L;
}

size_t sim_crd_kinds(const json_t *crd, struct sim_kind ***out, char **obstacle)
{
    json_t *served = sim_lua_call(ready("served", crd)), *version;
    size_t count = 0, i;
    *obstacle = json_is_string(served) ? xstrdup(json_string_value(served)) : NULL;
    *out = xcalloc(json_array_size(served) + 1, sizeof **out);
    json_array_foreach (served, i, version) (*out)[count++] = kind_of(crd, version);
    json_decref(served);
    return count;
}

json_t *sim_crd_names(const json_t *crd)
{
    return sim_lua_call(ready("names", crd));
}

void sim_crd_do(const char *step, json_t *crd, int64_t now_s, const json_t *all)
{
    lua_State *L = ready(step, crd);
    sim_lua_push_new(L, sim_time(now_s));
    sim_lua_push(L, all);
    sim_lua_is(L);
}

/* --- Rules for CustomResourceDefinitions */

void sim_crd_check_name(const json_t *crd, const char *field, json_t *causes)
{
    lua_State *L = ready("name_problems", crd);
    lua_pushstring(L, field);
    sim_add_causes(causes, L);
}

/* Checks a default as its schema says: { "default" or "unknown", path, schema, value }. */
static void check_default(const json_t *problem, json_t *causes)
{
    const char *path = sim_text_at(json_array_get(problem, 1), "");
    const json_t *schema = json_array_get(problem, 2), *value = json_array_get(problem, 3);
    if (strcmp(sim_text_at(json_array_get(problem, 0), ""), "default") == 0) {
        sim_structural_check_at(schema, value, NULL, path, causes);
        return;
    }
    json_t *pruned = json_deep_copy(value), *unknown = sim_structural_prune(schema, pruned, true);
    if (json_array_size(unknown))
        json_array_append_new(causes,
                              sim_cause("FieldValueInvalid", path, value, "must not have unknown fields"));
    json_decref(unknown);
    json_decref(pruned);
}

void sim_crd_check(const json_t *crd, const json_t *old, bool of_status, json_t *causes)
{
    lua_State *L = sim_lua_take("sim.checks.crd_definitions", "problems");
    sim_lua_push(L, crd);
    sim_lua_push(L, old);
    lua_pushboolean(L, of_status);
    sim_lua_push_function(L, sim_lua_read_metadata, NULL);
    json_t *found = sim_lua_found(L), *problem;
    size_t i;
    json_array_foreach (found, i, problem) {
        json_t *one = json_pack("[O]", problem);
        const char *type = sim_text_at(json_array_get(problem, 0), "");
        if (strcmp(type, "default") == 0 || strcmp(type, "unknown") == 0)
            check_default(problem, causes);
        else
            sim_add_found(causes, one);
        json_decref(one);
    }
    json_decref(found);
}
