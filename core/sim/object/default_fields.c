/* Defaults by schema; see default_fields.h. */
#include "sim/object/default_fields.h"

#include <string.h>

#include "sim/text/tree.h"

typedef void finish_object(const char *type, json_t *object);

static void walk(const struct schema_type *type, json_t *object, finish_object *finish);

static bool is_empty(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING: return json_string_length(value) == 0;
    case JSON_INTEGER: return json_integer_value(value) == 0;
    case JSON_REAL: return json_real_value(value) == 0;
    case JSON_OBJECT: return json_object_size(value) == 0;
    case JSON_ARRAY: return json_array_size(value) == 0;
    default: return !json_is_true(value);
    }
}

/* As in Go, a field that is no pointer is set when it is not empty. */
static bool is_set(const struct schema_field *field, const json_t *object)
{
    const json_t *value = json_object_get(object, field->name);
    return value && !json_is_null(value) && (field->optional || !is_empty(value));
}

/* "image" or "type:OnDelete": is the field of the type set, or has it that value? */
static bool meets(const struct schema_type *type, const json_t *object, const char *condition)
{
    struct str value = str_of(condition), name;
    str_cut(&value, ':', &name);
    const struct schema_field *field = schema_field_named(type, name);
    if (!value.p) return field && is_set(field, object);
    const json_t *text = json_object_getn(object, name.p, name.n);
    return json_is_string(text) && str_is(value, json_string_value(text));
}

static bool meets_none(const struct schema_type *type, const json_t *object, const char *const *unless)
{
    for (; *unless; unless++)
        if (meets(type, object, *unless)) return false;
    return true;
}

static bool has_default(const struct schema_type *type, const struct schema_field *field,
                        const json_t *object)
{
    return field->value && !is_set(field, object) && meets_none(type, object, field->unless);
}

/* The value of a field in JSON that nobody set. */
static json_t *empty(const struct schema_field *field)
{
    if (field->holder != SCHEMA_ONE || field->optional) return json_null();
    switch (field->form) {
    case SCHEMA_STRING: return json_string("");
    case SCHEMA_BOOL: return json_false();
    case SCHEMA_INT32:
    case SCHEMA_INT64: return json_integer(0);
    case SCHEMA_OBJECT: return json_object();
    default: return json_null();
    }
}

static void walk_values(const struct schema_field *field, json_t *value, finish_object *finish)
{
    const struct schema_type *type = field->form == SCHEMA_OBJECT ? schema_type_of_field(field) : NULL;
    const char *key;
    json_t *one;
    size_t i;
    if (!type) return;
    if (field->holder == SCHEMA_ONE) walk(type, value, finish);
    json_array_foreach (field->holder == SCHEMA_LIST ? value : NULL, i, one) walk(type, one, finish);
    json_object_foreach (field->holder == SCHEMA_MAP ? value : NULL, key, one) walk(type, one, finish);
}

/* A required list or object that is missing stays missing: a server refuses that. */
static void walk_field(const struct schema_field *field, json_t *object, finish_object *finish)
{
    if (!*field->name) {
        walk(schema_type_of_field(field), object, finish);
        return;
    }
    bool missing = !json_object_get(object, field->name);
    bool refused = field->required && (field->holder != SCHEMA_ONE || field->form == SCHEMA_OBJECT);
    if (field->always && missing && !refused) json_object_set_new(object, field->name, empty(field));
    walk_values(field, json_object_get(object, field->name), finish);
}

static void set_value(json_t *object, const char *name, const char *value)
{
    json_object_set_new(object, name, json_loads(value, JSON_DECODE_ANY, NULL));
}

/* Conditions are about what is there before any default, and so those come first. */
static void walk(const struct schema_type *type, json_t *object, finish_object *finish)
{
    if (!type || !json_is_object(object)) return;
    for (int conditional = 1; conditional >= 0; conditional--)
        for (size_t i = 0; i < type->field_count; i++) {
            const struct schema_field *field = &type->fields[i];
            if (!*field->unless == !conditional && has_default(type, field, object))
                set_value(object, field->name, field->value);
        }
    for (size_t i = 0; i < type->field_count; i++) walk_field(&type->fields[i], object, finish);
    finish(type->name, object);
}

/* A default of this kind alone: "spec.behavior.scaleUp.policies", of objects that are there. No path of these
 * goes through a list. */
static void set_own(const struct schema_type *type, const struct schema_kind_default *own, json_t *object)
{
    struct str rest = str_of(own->path), step;
    const struct schema_field *field = NULL;
    while (str_cut(&rest, '.', &step) && (field = schema_field_named(type, step)) && rest.p) {
        object = json_object_getn(object, step.p, step.n);
        type = schema_type_of_field(field);
    }
    if (field && json_is_object(object) && !is_set(field, object) && meets_none(type, object, own->unless))
        set_value(object, step.p, own->value);
}

void sim_default_fields(const struct schema_kind *schema, json_t *object, finish_object *finish)
{
    const struct schema_type *type = schema_type_of_kind(schema);
    for (int conditional = 1; conditional >= 0; conditional--)
        for (size_t i = 0; i < schema->default_count; i++)
            if (!*schema->defaults[i].unless == !conditional) set_own(type, &schema->defaults[i], object);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        bool walks = *field->name && strcmp(field->name, "metadata") != 0;
        if (walks && has_default(type, field, object)) set_value(object, field->name, field->value);
        if (walks &&
            (strcmp(field->name, "status") != 0 || json_is_object(json_object_get(object, "status"))))
            walk_field(field, object, finish);
    }
    finish(type->name, object);
}
