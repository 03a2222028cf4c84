/* Rules of structural schemas; see structural.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/text/tree.h"
#include "sim/validate/cause.h"
#include "sim/validate/structural.h"

enum schema_level { AT_ROOT, OF_ITEMS, OF_FIELD };

static void check_schema(const json_t *schema, enum schema_level level, const char *path, json_t *causes);

/* Takes the field. */
static void add(json_t *causes, const char *type, char *field, const json_t *value, const char *detail)
{
    json_array_append_new(causes, sim_cause(type, field, value, detail));
    free(field);
}

static void check_inner(const json_t *schema, enum schema_level level, char *path, json_t *causes)
{
    if (schema) check_schema(schema, level, path, causes);
    free(path);
}

static void check_type(const json_t *schema, enum schema_level level, const char *path, json_t *causes)
{
    static const char *const missing[] = {"must not be empty at the root",
                                          "must not be empty for specified array items",
                                          "must not be empty for specified object fields"};
    const json_t *type = json_object_get(schema, "type");
    const char *text = sim_text_at(type, "");
    bool open = sim_true_at(schema, "x-kubernetes-int-or-string") ||
                sim_true_at(schema, "x-kubernetes-preserve-unknown-fields");
    if (!*text && !open) add(causes, "FieldValueRequired", xasprintf("%s.type", path), NULL, missing[level]);
    if (level == AT_ROOT && *text && strcmp(text, "object") != 0)
        add(causes, "FieldValueInvalid", xasprintf("%s.type", path), type, "must be object at the root");
    static const char *const types[] = {"array", "boolean", "integer", "number", "object", "string"};
    size_t i = 0;
    while (i < ARRAY_LEN(types) && strcmp(text, types[i]) != 0) i++;
    if (*text && i == ARRAY_LEN(types))
        add(causes, "FieldValueNotSupported", xasprintf("%s.type", path), type,
            "supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"");
}

static void check_schema(const json_t *schema, enum schema_level level, const char *path, json_t *causes)
{
    const json_t *items = json_object_get(schema, "items"),
                 *others = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *property;
    if (strcmp(sim_text_at(schema, "type"), "array") == 0 && !items)
        add(causes, "FieldValueRequired", xasprintf("%s.items", path), NULL, "must be specified");
    check_inner(items, OF_ITEMS, xasprintf("%s.items", path), causes);
    json_object_foreach (json_object_get(schema, "properties"), key, property)
        check_inner(property, OF_FIELD, xasprintf("%s.properties[%s]", path, key), causes);
    if (others && level == AT_ROOT)
        add(causes, "FieldValueForbidden", xasprintf("%s.additionalProperties", path), NULL,
            "must not be used at the root");
    if (json_is_object(others))
        check_inner(others, OF_FIELD, xasprintf("%s.additionalProperties", path), causes);
    check_type(schema, level, path, causes);
}

void sim_structural_check_schema(const json_t *schema, const char *path, json_t *causes)
{
    check_schema(schema, AT_ROOT, path, causes);
}
