/* Types of the schema bundle as OpenAPI v3 has them; see openapi.h. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/api/openapi.h"
#include "sim/text/tree.h"

#define META          "io.k8s.apimachinery.pkg.apis.meta.v1."
#define APIEXTENSIONS "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

/* Types that are no struct of the bundle, and their schemas. */
static const struct openapi_scalar {
    enum schema_form form;
    const char *name, *schema;
} scalars[] = {
    {SCHEMA_QUANTITY, "io.k8s.apimachinery.pkg.api.resource.Quantity",
     "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}"},
    {SCHEMA_INT_OR_STRING, "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
     "{\"format\":\"int-or-string\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}"},
    {SCHEMA_TIME, META "Time", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    {SCHEMA_MICRO_TIME, META "MicroTime", "{\"type\":\"string\",\"format\":\"date-time\"}"},
    {SCHEMA_DURATION, META "Duration", "{\"type\":\"string\"}"},
    {SCHEMA_RAW, "io.k8s.apimachinery.pkg.runtime.RawExtension", "{\"type\":\"object\"}"},
    {SCHEMA_JSON, APIEXTENSIONS "JSON", "{}"},
    {SCHEMA_SCHEMA_OR_BOOL, APIEXTENSIONS "JSONSchemaPropsOrBool", "{}"},
    {SCHEMA_SCHEMA_OR_ARRAY, APIEXTENSIONS "JSONSchemaPropsOrArray", "{}"},
    {SCHEMA_SCHEMA_OR_STRINGS, APIEXTENSIONS "JSONSchemaPropsOrStringArray", "{}"},
};
/* JSON of another package: who owns which fields. */
static const struct openapi_scalar fields_v1 = {SCHEMA_JSON, META "FieldsV1", "{\"type\":\"object\"}"};

/* Forms of JSON's own. */
static const struct openapi_plain {
    enum schema_form form;
    const char *type, *format;
} plains[] = {
    {SCHEMA_STRING, "string", NULL},     {SCHEMA_BOOL, "boolean", NULL},
    {SCHEMA_INT32, "integer", "int32"},  {SCHEMA_INT64, "integer", "int64"},
    {SCHEMA_DOUBLE, "number", "double"}, {SCHEMA_BYTES, "string", "byte"},
};

json_t *sim_openapi_ref(const char *name)
{
    char *path = xasprintf("#/components/schemas/%s", name);
    json_t *ref = json_pack("{s:s}", "$ref", path);
    free(path);
    return ref;
}

/* "core/v1.PodSpec" is io.k8s.api.core.v1.PodSpec; some packages lie elsewhere. A new string. */
static char *name_of(const char *type)
{
    static const struct {
        const char *package, *path;
    } elsewhere[] = {
        {"meta", "io.k8s.apimachinery.pkg.apis.meta"},
        {"apiextensions", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions"},
        {"apiregistration", "io.k8s.kube-aggregator.pkg.apis.apiregistration"},
    };
    size_t n = strcspn(type, "/");
    for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++)
        if (strlen(elsewhere[i].package) == n && strncmp(type, elsewhere[i].package, n) == 0)
            return xasprintf("%s.%s", elsewhere[i].path, type + n + 1);
    return xasprintf("io.k8s.api.%.*s.%s", (int)n, type, type + n + (type[n] == '/'));
}

static json_t *typed(const char *type, const char *format)
{
    return json_pack("{s:s, s:s*}", "type", type, "format", format);
}

static char *add_type(json_t *schemas, const struct schema_type *type);

static json_t *named(json_t *schemas, const struct openapi_scalar *scalar)
{
    if (!json_object_get(schemas, scalar->name))
        json_object_set_new(schemas, scalar->name, json_loads(scalar->schema, 0, NULL));
    return sim_openapi_ref(scalar->name);
}

/* The schema of one value of a field, without what is said of the field. */
static json_t *value_of(json_t *schemas, const struct schema_field *field)
{
    for (size_t i = 0; i < ARRAY_LEN(plains); i++)
        if (plains[i].form == field->form) return typed(plains[i].type, plains[i].format);
    for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
        if (scalars[i].form == field->form)
            return named(schemas, strcmp(field->name, "fieldsV1") == 0 ? &fields_v1 : &scalars[i]);
    const struct schema_type *type = field->form == SCHEMA_OBJECT ? schema_type_of_field(field) : NULL;
    if (!type) return json_object(); /* any JSON, or one of a CRD's choices */
    char *name = add_type(schemas, type);
    json_t *ref = sim_openapi_ref(name);
    free(name);
    return ref;
}

static json_t *held(json_t *schemas, const struct schema_field *field)
{
    json_t *value = value_of(schemas, field);
    switch (field->holder) {
    case SCHEMA_ONE: return value;
    case SCHEMA_MAP: return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", value);
    case SCHEMA_MAP_OF_NAMED_LISTS:
        return json_pack("{s:s, s:{s:s, s:o}}", "type", "object", "additionalProperties", "type", "array",
                         "items", value);
    default: return json_pack("{s:s, s:o}", "type", "array", "items", value);
    }
}

static void set_merge(json_t *property, const struct schema_field *field)
{
    static const char *const list_types[] = {
        [SCHEMA_ATOMIC] = "atomic", [SCHEMA_SET] = "set", [SCHEMA_LIST_MAP] = "map"};
    static const char *const map_types[] = {[SCHEMA_ATOMIC] = "atomic", [SCHEMA_GRANULAR] = "granular"};
    bool is_list = field->holder == SCHEMA_LIST || field->holder == SCHEMA_NAMED_LIST ||
                   field->form == SCHEMA_BYTES; /* a list of bytes, in Go */
    const char *type = NULL;
    if (field->merge != SCHEMA_MERGE_UNSAID)
        type = is_list ? (field->merge < ARRAY_LEN(list_types) ? list_types[field->merge] : NULL)
                       : map_types[field->merge];
    if (type)
        json_object_set_new(property, is_list ? "x-kubernetes-list-type" : "x-kubernetes-map-type",
                            json_string(type));
    if (*field->list_keys) {
        json_t *keys = json_array();
        for (const char *const *key = field->list_keys; *key; key++)
            json_array_append_new(keys, json_string(*key));
        json_object_set_new(property, "x-kubernetes-list-map-keys", keys);
    }
    if (field->patch_merges || field->patch_retains_keys)
        json_object_set_new(property, "x-kubernetes-patch-strategy",
                            json_string(!field->patch_merges        ? "retainKeys"
                                        : field->patch_retains_keys ? "merge,retainKeys"
                                                                    : "merge"));
    if (field->merge_key)
        json_object_set_new(property, "x-kubernetes-patch-merge-key", json_string(field->merge_key));
}

/* A reference stands alone: what is said beside it needs an allOf around it. */
static json_t *property_of(json_t *schemas, const struct schema_field *field)
{
    json_t *property = held(schemas, field),
           *value = field->value ? json_loads(field->value, JSON_DECODE_ANY, NULL) : NULL;
    if (json_object_get(property, "$ref") && (value || *field->description))
        property = json_pack("{s:[o]}", "allOf", property);
    if (*field->description) json_object_set_new(property, "description", json_string(field->description));
    if (value) json_object_set_new(property, "default", value);
    if (*field->enums) {
        json_t *values = json_array();
        for (const char *const *text = field->enums; *text; text++)
            json_array_append_new(values, json_string(*text));
        json_t *items = json_object_get(property, "items");
        json_object_set_new(items ? items : property, "enum", values);
    }
    set_merge(property, field);
    return property;
}

static void add_fields(json_t *schemas, const struct schema_type *type, json_t *properties, json_t *required)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        if (!*field->name) {
            const struct schema_type *inlined = schema_type_of_field(field);
            if (inlined) add_fields(schemas, inlined, properties, required);
            continue;
        }
        json_object_set_new(properties, field->name, property_of(schemas, field));
        if (field->required) json_array_append_new(required, json_string(field->name));
    }
}

/* Adds a type before its fields: some contain themselves. */
static char *add_type(json_t *schemas, const struct schema_type *type)
{
    char *name = name_of(type->name);
    if (json_object_get(schemas, name)) return name;
    json_t *schema = json_pack("{s:s}", "type", "object");
    json_object_set_new(schemas, name, schema);
    if (*type->description) json_object_set_new(schema, "description", json_string(type->description));
    json_t *properties = json_object(), *required = json_array();
    add_fields(schemas, type, properties, required);
    if (json_object_size(properties)) json_object_set(schema, "properties", properties);
    if (json_array_size(required)) json_object_set(schema, "required", required);
    if (type->atomic) json_object_set_new(schema, "x-kubernetes-map-type", json_string("atomic"));
    json_decref(properties);
    json_decref(required);
    return name;
}

char *sim_openapi_add_type(json_t *schemas, const char *type)
{
    const struct schema_type *found = schema_type(type);
    return found ? add_type(schemas, found) : xstrdup("");
}

char *sim_openapi_add_kind(json_t *schemas, const struct schema_kind *kind)
{
    const struct schema_type *type = schema_type_of_kind(kind);
    if (!type) return xstrdup("");
    char *name = add_type(schemas, type);
    json_object_set_new(
        json_object_get(schemas, name), "x-kubernetes-group-version-kind",
        json_pack("[{s:s, s:s, s:s}]", "group", kind->group, "version", kind->version, "kind", kind->kind));
    return name;
}
