/* Shapes of values; see shape.h. */
#include "sim/managed/shape.h"

#include <pthread.h>
#include <string.h>

#include "sim/text/tree.h"

struct sim_shape sim_shape_of_kind(const struct sim_kind *kind)
{
    const struct schema_type *type =
        kind->custom ? NULL : schema_type_of_kind(schema_kind(kind->group, kind->version, kind->kind));
    if (type) return (struct sim_shape){.form = SIM_SHAPE_TYPE, .type = type};
    return (struct sim_shape){.form = SIM_SHAPE_CUSTOM_ROOT, .schema = kind->structural};
}

/* One value of the field. */
static struct sim_shape one(const struct schema_field *field)
{
    switch (field->form) {
    case SCHEMA_RAW: return (struct sim_shape){.form = SIM_SHAPE_WHOLE};
    case SCHEMA_JSON:
    case SCHEMA_SCHEMA_OR_BOOL:
    case SCHEMA_SCHEMA_OR_ARRAY:
    case SCHEMA_SCHEMA_OR_STRINGS: return (struct sim_shape){.form = SIM_SHAPE_DEDUCED};
    case SCHEMA_OBJECT: {
        const struct schema_type *type = schema_type_of_field(field);
        if (!type) return (struct sim_shape){.form = SIM_SHAPE_DEDUCED};
        bool said = field->holder == SCHEMA_ONE && field->merge != SCHEMA_MERGE_UNSAID;
        bool whole = said ? field->merge == SCHEMA_ATOMIC : type->atomic;
        return (struct sim_shape){.form = SIM_SHAPE_TYPE, .type = type, .whole = whole};
    }
    default: return (struct sim_shape){.form = SIM_SHAPE_SCALAR, .field = field};
    }
}

struct sim_shape sim_shape_of_field(const struct schema_field *field)
{
    if (field->holder == SCHEMA_ONE) return one(field);
    return (struct sim_shape){.form = SIM_SHAPE_MANY, .field = field};
}

static struct sim_shape custom(const json_t *schema, bool keeps_unknown)
{
    bool keeps = keeps_unknown || sim_true_at(schema, "x-kubernetes-preserve-unknown-fields");
    return (struct sim_shape){.form = SIM_SHAPE_CUSTOM, .schema = schema, .keeps_unknown = keeps};
}

static enum sim_membership custom_member(const struct sim_shape *shape, const char *name,
                                         struct sim_shape *member)
{
    const json_t *properties = json_object_get(shape->schema, "properties");
    const json_t *own = json_object_get(properties, name);
    const json_t *others = json_object_get(shape->schema, "additionalProperties");
    if (own) {
        *member = custom(own, shape->keeps_unknown);
        return SIM_DECLARED;
    }
    if (json_is_object(others)) {
        *member = custom(others, shape->keeps_unknown);
        return SIM_OF_A_MAP;
    }
    bool any = json_is_true(others) || (!others && (shape->keeps_unknown || !json_object_size(properties)));
    return any ? SIM_OF_A_MAP : SIM_UNDECLARED;
}

static enum sim_membership root_member(const struct sim_shape *shape, const char *name,
                                       struct sim_shape *member)
{
    if (strcmp(name, "metadata") == 0) {
        *member = (struct sim_shape){.form = SIM_SHAPE_TYPE, .type = schema_type("meta/v1.ObjectMeta")};
        return SIM_DECLARED;
    }
    if (strcmp(name, "apiVersion") == 0 || strcmp(name, "kind") == 0) return SIM_DECLARED;
    struct sim_shape top = custom(shape->schema, false);
    return custom_member(&top, name, member);
}

enum sim_membership sim_shape_member(const struct sim_shape *shape, const char *name,
                                     struct sim_shape *member)
{
    *member = (struct sim_shape){.form = SIM_SHAPE_DEDUCED};
    switch (shape->form) {
    case SIM_SHAPE_TYPE: {
        const struct schema_field *field = schema_field_named(shape->type, str_of(name));
        if (field) *member = sim_shape_of_field(field);
        return field ? SIM_DECLARED : SIM_UNDECLARED;
    }
    case SIM_SHAPE_MANY: *member = sim_shape_element(shape); return SIM_OF_A_MAP;
    case SIM_SHAPE_WHOLE: *member = *shape; return SIM_OF_A_MAP;
    case SIM_SHAPE_CUSTOM: return custom_member(shape, name, member);
    case SIM_SHAPE_CUSTOM_ROOT: return root_member(shape, name, member);
    default: return SIM_OF_A_MAP;
    }
}

struct sim_shape sim_shape_element(const struct sim_shape *shape)
{
    const json_t *items = json_object_get(shape->schema, "items");
    if (shape->form == SIM_SHAPE_CUSTOM && items) return custom(items, shape->keeps_unknown);
    bool lists = shape->form == SIM_SHAPE_MANY && shape->field->holder == SCHEMA_MAP_OF_NAMED_LISTS;
    if (shape->form == SIM_SHAPE_MANY && !lists) return one(shape->field);
    return (struct sim_shape){.form = SIM_SHAPE_WHOLE};
}

const char *sim_shape_type(const struct sim_shape *shape)
{
    switch (shape->form) {
    case SIM_SHAPE_TYPE:
    case SIM_SHAPE_CUSTOM_ROOT: return "object";
    case SIM_SHAPE_MANY: return shape->field->holder <= SCHEMA_NAMED_LIST ? "array" : "object";
    case SIM_SHAPE_CUSTOM: return nonempty(sim_text_at(shape->schema, "type"));
    case SIM_SHAPE_SCALAR: break;
    default: return NULL;
    }
    switch (shape->field->form) {
    case SCHEMA_STRING:
    case SCHEMA_BYTES: return "string";
    case SCHEMA_BOOL: return "boolean";
    case SCHEMA_INT32:
    case SCHEMA_INT64: return "integer";
    case SCHEMA_DOUBLE: return "number";
    default: return "scalar"; /* of any type */
    }
}

enum sim_node sim_shape_node(const struct sim_shape *shape, const json_t *value)
{
    const char *type = sim_shape_type(shape);
    if (type) {
        if (strcmp(type, "array") == 0) return SIM_NODE_LIST;
        return strcmp(type, "object") == 0 ? SIM_NODE_MAP : SIM_NODE_SCALAR;
    }
    if (json_is_array(value)) return SIM_NODE_LIST;
    return !value || json_is_null(value) || json_is_object(value) ? SIM_NODE_MAP : SIM_NODE_SCALAR;
}

bool sim_shape_whole(const struct sim_shape *shape, enum sim_node node)
{
    const struct schema_field *field = shape->field;
    switch (shape->form) {
    case SIM_SHAPE_DEDUCED: return node == SIM_NODE_LIST;
    case SIM_SHAPE_WHOLE: return true;
    case SIM_SHAPE_TYPE: return shape->whole;
    case SIM_SHAPE_MANY:
        if (node == SIM_NODE_MAP || field->merge != SCHEMA_MERGE_UNSAID) return field->merge == SCHEMA_ATOMIC;
        return !field->patch_merges;
    case SIM_SHAPE_CUSTOM:
        if (node == SIM_NODE_MAP)
            return strcmp(sim_text_at(shape->schema, "x-kubernetes-map-type"), "atomic") == 0;
        return strcmp(sim_text_at(shape->schema, "x-kubernetes-list-type"), "map") != 0 &&
               strcmp(sim_text_at(shape->schema, "x-kubernetes-list-type"), "set") != 0;
    default: return false;
    }
}

static struct {
    pthread_once_t once;
    json_t *map, *text, *number;
} zeros = {.once = PTHREAD_ONCE_INIT};

static void make_zeros(void)
{
    zeros.map = json_object();
    zeros.text = json_string("");
    zeros.number = json_integer(0);
}

const json_t *sim_shape_zero(const struct schema_field *field)
{
    pthread_once(&zeros.once, make_zeros);
    if (field->holder != SCHEMA_ONE || field->optional) return json_null();
    switch (field->form) {
    case SCHEMA_OBJECT: return zeros.map;
    case SCHEMA_STRING: return zeros.text;
    case SCHEMA_BOOL: return json_false();
    case SCHEMA_INT32:
    case SCHEMA_INT64: return zeros.number;
    default: return json_null();
    }
}

bool sim_shape_omits(const struct schema_field *field, const json_t *value)
{
    if (json_is_null(value)) return true;
    if (field->always || (field->optional && field->holder == SCHEMA_ONE)) return false;
    return json_is_false(value) || (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_integer(value) && json_integer_value(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}
