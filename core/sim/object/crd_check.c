/* Rules for CustomResourceDefinitions. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/object/crd.h"
#include "sim/object/status.h"
#include "sim/text/jsonpath.h"
#include "sim/text/names.h"
#include "sim/text/tree.h"

static void add(json_t *causes, const char *type, const char *field, const json_t *value, const char *detail)
{
    json_array_append_new(causes, sim_cause(type, field, value, detail));
}

static void require(json_t *causes, const json_t *object, const char *key, const char *field)
{
    if (!*sim_text_at(object, key)) add(causes, "FieldValueRequired", field, NULL, "");
}

static void check_group(const json_t *crd, json_t *causes)
{
    struct buf problems = {0};
    json_t *name = sim_at(crd, "metadata.name"), *group = sim_at(crd, "spec.group");
    char *wanted = xasprintf("%s.%s", sim_text_at(crd, "spec.names.plural"), sim_text_at(crd, "spec.group"));
    if (strcmp(sim_text_at(name, ""), wanted) != 0)
        add(causes, "FieldValueInvalid", "metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
    free(wanted);
    if (!*sim_text_at(group, ""))
        add(causes, "FieldValueRequired", "spec.group", NULL, "");
    else if (!sim_check_subdomain(str_of(json_string_value(group)), &problems))
        add(causes, "FieldValueInvalid", "spec.group", group, buf_text(&problems));
    else if (!strchr(json_string_value(group), '.'))
        add(causes, "FieldValueInvalid", "spec.group", group, "should be a domain with at least one dot");
    buf_clear(&problems);
}

static void check_scope(const json_t *crd, json_t *causes)
{
    const json_t *scope = sim_at(crd, "spec.scope");
    const char *text = sim_text_at(scope, "");
    if (!*text)
        add(causes, "FieldValueRequired", "spec.scope", NULL, "");
    else if (strcmp(text, "Cluster") != 0 && strcmp(text, "Namespaced") != 0)
        add(causes, "FieldValueNotSupported", "spec.scope", scope,
            "supported values: \"Cluster\", \"Namespaced\"");
}

static void check_column(const json_t *column, size_t version, size_t at, json_t *causes)
{
    static const char *const types[] = {"boolean", "date", "integer", "number", "string"};
    const char *type = sim_text_at(column, "type"), *path = sim_text_at(column, "jsonPath");
    char *field = xasprintf("spec.versions[%zu].additionalPrinterColumns[%zu]", version, at);
    char *of_name = xasprintf("%s.name", field), *of_type = xasprintf("%s.type", field);
    char *of_path = xasprintf("%s.JSONPath", field);
    bool known = false;
    require(causes, column, "name", of_name);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) known = known || strcmp(type, types[i]) == 0;
    if (!*type)
        add(causes, "FieldValueRequired", of_type, NULL, "must be one of boolean,date,integer,number,string");
    else if (!known)
        add(causes, "FieldValueInvalid", of_type, json_object_get(column, "type"),
            "must be one of boolean,date,integer,number,string");
    if (!*path)
        add(causes, "FieldValueRequired", of_path, NULL, "");
    else if (*path != '.' || !sim_jsonpath_valid(path))
        add(causes, "FieldValueInvalid", of_path, json_object_get(column, "jsonPath"),
            "must be a simple json path starting with .");
    free(field);
    free(of_name);
    free(of_type);
    free(of_path);
}

static bool named_before(const json_t *versions, size_t at)
{
    const char *name = sim_text_at(json_array_get(versions, at), "name");
    for (size_t i = 0; i < at; i++)
        if (strcmp(sim_text_at(json_array_get(versions, i), "name"), name) == 0) return true;
    return false;
}

static void check_version(const json_t *version, size_t at, json_t *causes)
{
    struct buf problems = {0};
    char *of_name = xasprintf("spec.versions[%zu].name", at);
    char *of_schema = xasprintf("spec.versions[%zu].schema.openAPIV3Schema", at);
    json_t *name = json_object_get(version, "name"), *column;
    size_t i;
    if (!sim_check_label(str_of(sim_text_at(name, "")), &problems))
        add(causes, "FieldValueInvalid", of_name, name, buf_text(&problems));
    if (!json_is_object(sim_at(version, "schema.openAPIV3Schema")))
        add(causes, "FieldValueRequired", of_schema, NULL, "");
    json_array_foreach (json_object_get(version, "additionalPrinterColumns"), i, column)
        check_column(column, at, i, causes);
    buf_clear(&problems);
    free(of_name);
    free(of_schema);
}

static void check_versions(const json_t *crd, json_t *causes)
{
    const json_t *versions = sim_at(crd, "spec.versions"), *version;
    size_t storage = 0, n = json_array_size(versions);
    bool unique = true;
    for (size_t i = 0; i < n; i++) {
        version = json_array_get(versions, i);
        storage += sim_true_at(version, "storage");
        unique = unique && !named_before(versions, i);
        check_version(version, i, causes);
    }
    if (!unique)
        add(causes, "FieldValueInvalid", "spec.versions", versions, "must contain unique version names");
    if (storage != 1)
        add(causes, "FieldValueInvalid", "spec.versions", versions,
            "must have exactly one version marked as storage version");
}

void sim_crd_check(const json_t *crd, json_t *causes)
{
    const json_t *names = sim_at(crd, "spec.names");
    check_group(crd, causes);
    check_scope(crd, causes);
    check_versions(crd, causes);
    require(causes, names, "plural", "spec.names.plural");
    require(causes, names, "kind", "spec.names.kind");
}
