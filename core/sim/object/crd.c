/* Kinds that a CustomResourceDefinition defines, and its status. */
#include "sim/object/crd.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/object/status.h"
#include "sim/text/names.h"
#include "sim/text/timestamp.h"
#include "sim/text/tree.h"
#include "sim/validate/rules.h"
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
    for (i = 0; i < n; i++) labels[i] = xstrdup(sim_text_at(json_array_get(fields, i), "jsonPath") + 1);
    return labels;
}

static char *deprecation_of(const struct sim_kind *kind, const json_t *version)
{
    const char *text = sim_text_at(version, "deprecationWarning");
    if (!sim_true_at(version, "deprecated")) return NULL;
    return *text ? xstrdup(text)
                 : xasprintf("%s/%s %s is deprecated", kind->group, kind->version, kind->kind);
}

static struct sim_kind *kind_of(const json_t *spec, const json_t *version)
{
    const json_t *names = json_object_get(spec, "names");
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
    kind->not_storage = !sim_true_at(version, "storage");
    kind->printer_columns = columns;
    kind->structural = json_deep_copy(sim_at(version, "schema.openAPIV3Schema"));
    return kind;
}

static int compare_kinds(const void *a, const void *b)
{
    return sim_compare_versions((*(struct sim_kind *const *)a)->version,
                                (*(struct sim_kind *const *)b)->version);
}

size_t sim_crd_kinds(const json_t *crd, struct sim_kind ***out, char **message)
{
    const json_t *spec = json_object_get(crd, "spec"), *versions = json_object_get(spec, "versions");
    json_t *causes = json_array(), *version;
    size_t count = 0, i;
    *out = NULL;
    *message = NULL;
    sim_crd_check_name(crd, "metadata.name", causes);
    sim_crd_check(crd, causes);
    if (json_array_size(causes)) {
        const json_t *first = json_array_get(causes, 0);
        *message = xasprintf("%s: %s", sim_text_at(first, "field"), sim_text_at(first, "message"));
    } else {
        *out = xcalloc(json_array_size(versions), sizeof **out);
        json_array_foreach (versions, i, version)
            if (sim_true_at(version, "served")) (*out)[count++] = kind_of(spec, version);
        qsort(*out, count, sizeof **out, compare_kinds);
    }
    json_decref(causes);
    return count;
}

/* Adds the condition, unless there is one of that type. */
static void add_condition(json_t *conditions, const char *type, const char *reason, const char *message,
                          int64_t now_s)
{
    if (sim_find(conditions, "type", type)) return;
    json_array_append_new(conditions, json_pack("{s:s,s:s,s:o,s:s,s:s}", "type", type, "status", "True",
                                                "lastTransitionTime", sim_time(now_s), "reason", reason,
                                                "message", message));
}

static json_t *stored_versions(const json_t *crd)
{
    json_t *stored = json_array(), *version;
    size_t i;
    json_array_foreach (sim_at(crd, "spec.versions"), i, version)
        if (sim_true_at(version, "storage"))
            json_array_append_new(stored, sim_string(sim_text_at(version, "name")));
    return stored;
}

void sim_crd_begin(json_t *crd)
{
    json_object_set_new(crd, "status",
                        json_pack("{s:n,s:{s:s,s:s},s:o}", "conditions", "acceptedNames", "plural", "",
                                  "kind", "", "storedVersions", stored_versions(crd)));
}

void sim_crd_establish(json_t *crd, int64_t now_s)
{
    json_t *status = sim_submap(crd, "status"), *conditions = json_object_get(status, "conditions");
    if (!json_is_array(conditions)) json_object_set_new(status, "conditions", conditions = json_array());
    add_condition(conditions, "NamesAccepted", "NoConflicts", "no conflicts found", now_s);
    add_condition(conditions, "Established", "InitialNamesAccepted", "the initial names have been accepted",
                  now_s);
    json_object_set_new(status, "acceptedNames", json_deep_copy(sim_at(crd, "spec.names")));
    if (json_array_size(json_object_get(status, "storedVersions")) == 0)
        json_object_set_new(status, "storedVersions", stored_versions(crd));
}

/* --- Rules for CustomResourceDefinitions */

static void add(json_t *causes, const char *type, const char *field, const json_t *value, const char *detail)
{
    json_array_append_new(causes, sim_cause(type, field, value, detail));
}

void sim_crd_check_name(const json_t *crd, const char *field, json_t *causes)
{
    const char *name = sim_text_at(crd, field);
    char *wanted = xasprintf("%s.%s", sim_text_at(crd, "spec.names.plural"), sim_text_at(crd, "spec.group"));
    if (*name && strcmp(name, wanted) != 0)
        add(causes, "FieldValueInvalid", field, sim_at(crd, field),
            "must be spec.names.plural+\".\"+spec.group");
    free(wanted);
}

static void check_versions(const json_t *crd, json_t *causes)
{
    const json_t *versions = sim_at(crd, "spec.versions"), *version;
    size_t storage = 0, n = json_array_size(versions);
    bool unique = true;
    for (size_t i = 0; i < n; i++) {
        version = json_array_get(versions, i);
        storage += sim_true_at(version, "storage");
        unique = unique && sim_find(versions, "name", sim_text_at(version, "name")) == version;
    }
    if (!unique)
        add(causes, "FieldValueInvalid", "spec.versions", versions, "must contain unique version names");
    if (storage != 1)
        add(causes, "FieldValueInvalid", "spec.versions", versions,
            "must have exactly one version marked as storage version");
}

/* Returns the schema of a simple path ".spec.color"; NULL if it names no field of the object. */
static const json_t *schema_at(const json_t *schema, const char *path)
{
    char *copy = xstrdup(path + 1), *rest = copy;
    if (strncmp(path, ".metadata", strlen(".metadata")) == 0) schema = NULL;
    for (char *part; (part = strsep(&rest, "."));)
        schema = json_object_get(json_object_get(schema, "properties"), part);
    free(copy);
    return schema;
}

static void check_selectable(const json_t *versions, size_t version, json_t *causes)
{
    const json_t *schema = sim_at(json_array_get(versions, version), "schema.openAPIV3Schema"), *field;
    size_t i;
    json_array_foreach (json_object_get(json_array_get(versions, version), "selectableFields"), i, field) {
        /* As of the schemas: the only version's stand above all versions. */
        char *at = json_array_size(versions) == 1
                       ? xasprintf("spec.selectableFields[%zu].jsonPath", i)
                       : xasprintf("spec.versions[%zu].selectableFields[%zu].jsonPath", version, i);
        const char *path = sim_text_at(field, "jsonPath");
        const json_t *leaf = *path == '.' ? schema_at(schema, path) : NULL;
        const char *type = sim_text_at(leaf, "type");
        bool fits =
            strcmp(type, "string") == 0 || strcmp(type, "boolean") == 0 || strcmp(type, "integer") == 0;
        if (!*path)
            add(causes, "FieldValueRequired", at, NULL, "");
        else if (!leaf)
            add(causes, "FieldValueInvalid", at, json_object_get(field, "jsonPath"),
                "is an invalid path: does not refer to a valid field");
        else if (!fits)
            add(causes, "FieldValueInvalid", at, json_object_get(field, "jsonPath"),
                "must point to a field of type string, boolean or integer. Enum string fields and strings "
                "with "
                "formats are allowed.");
        free(at);
    }
}

/* The schema of the only version stands above all versions, for the server. */
static void check_schemas(const json_t *crd, json_t *causes)
{
    json_t *versions = sim_at(crd, "spec.versions"), *version;
    size_t i, n = json_array_size(versions);
    json_array_foreach (versions, i, version) {
        const json_t *schema = sim_at(version, "schema.openAPIV3Schema");
        char *path = n == 1 ? xstrdup("spec.validation.openAPIV3Schema")
                            : xasprintf("spec.versions[%zu].schema.openAPIV3Schema", i);
        if (json_is_object(schema)) sim_structural_check_schema(schema, path, causes);
        free(path);
        check_selectable(versions, i, causes);
    }
}

void sim_crd_check(const json_t *crd, json_t *causes)
{
    sim_rules_check("definition", NULL, crd, NULL, causes);
    check_versions(crd, causes);
    sim_rules_check("names of a definition", NULL, crd, NULL, causes);
    check_schemas(crd, causes);
    json_t *stored = stored_versions(crd);
    if (json_array_size(stored) == 0)
        add(causes, "FieldValueInvalid", "status.storedVersions", json_null(),
            "must have at least one stored version");
    json_decref(stored);
}

/* --- Kube-like versions: v<major>, or v<major>alpha<minor>, or v<major>beta<minor> */

struct version {
    int stage; /* 3 stable, 2 beta, 1 alpha, 0 nothing of the sort */
    long major, minor;
};

static bool number(const char **at, long *out)
{
    char *end;
    if (!isdigit((unsigned char)**at) || **at == '0') return false;
    *out = strtol(*at, &end, 10);
    *at = end;
    return true;
}

static struct version parse(const char *text)
{
    static const struct {
        struct str word;
        int stage;
    } stages[] = {{{"beta", 4}, 2}, {{"alpha", 5}, 1}};
    struct version v = {0}, other = {0};
    if (*text++ != 'v' || !number(&text, &v.major)) return other;
    v.stage = 3;
    if (!*text) return v;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        if (!str_starts(str_of(text), stages[i].word)) continue;
        text += stages[i].word.n;
        v.stage = stages[i].stage;
        return number(&text, &v.minor) && !*text ? v : other;
    }
    return other;
}

int sim_compare_versions(const char *a, const char *b)
{
    struct version va = parse(a), vb = parse(b);
    if (va.stage != vb.stage) return vb.stage - va.stage;
    if (va.stage == 0) return strcmp(a, b);
    if (va.major != vb.major) return va.major > vb.major ? -1 : 1;
    return (va.minor < vb.minor) - (va.minor > vb.minor);
}
