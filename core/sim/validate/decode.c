/* Typed decoding; see decode.h. The messages are those of Go's encoding/json. */
#include "sim/validate/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "sim/text/tree.h"
#include "sim/validate/decode_problem.h"
#include "sim/validate/scalars.h"

enum { FIELDS_MAX = 96 };

static json_t *decode_field(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                            const struct place *at);
static json_t *decode_object(struct field_decoder *d, const struct schema_type *type, const json_t *value,
                             const struct place *at);

/* --- Values */

static json_t *decode_int(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                          const struct place *at)
{
    const char *type = field->form == SCHEMA_INT32 ? "int32" : "int64";
    bool narrow = field->form == SCHEMA_INT32;
    json_int_t n = json_integer_value(value);
    if (json_is_integer(value) && (!narrow || (n >= INT32_MIN && n <= INT32_MAX))) return json_integer(n);
    if (d->converts && json_is_integer(value)) return json_integer((int32_t)(uint32_t)n); /* as Go does */
    sim_decode_wrong(d, at, value, type, type, false);
    return NULL;
}

static json_t *decode_int_or_string(struct field_decoder *d, const json_t *value, const struct place *at)
{
    json_int_t n = json_integer_value(value);
    if (json_is_string(value) || (json_is_integer(value) && n >= INT32_MIN && n <= INT32_MAX))
        return json_deep_copy(value);
    sim_decode_wrong(d, at, value, "int32", NULL, true);
    return NULL;
}

/* Amounts in lists of resources are in thousandths, at least. */
static json_t *decode_quantity(struct field_decoder *d, const json_t *value, int least)
{
    struct buf text = {0};
    if (json_is_string(value))
        buf_str(&text, str_trim(str_of(json_string_value(value))));
    else if (json_is_real(value))
        buf_printf(&text, "%.15g", json_real_value(value));
    else
        sim_put_json(&text, value);
    char *error = sim_check_quantity(buf_text(&text));
    bool stays = !error && sim_quantity_stays(buf_text(&text), least);
    json_t *quantity = error   ? NULL
                       : stays ? json_string(buf_text(&text))
                               : sim_quantity(buf_text(&text), least);
    if (error) sim_decode_fail(d, error, true);
    buf_clear(&text);
    return quantity;
}

/* Strings of a form of their own. Their types decode themselves, except bytes. */
static json_t *decode_text(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                           const struct place *at)
{
    const char *text = json_string_value(value);
    bool bytes = field->form == SCHEMA_BYTES, time = field->form != SCHEMA_DURATION && !bytes;
    json_t *canonical = NULL, *first = bytes ? json_array_get(value, 0) : NULL;
    if (bytes && json_is_array(value) && !first) return json_string("");
    if (!text) {
        sim_decode_wrong(d, at, first ? first : value,
                         first   ? "uint8"
                         : bytes ? "[]uint8"
                                 : "string",
                         first   ? "uint8"
                         : bytes ? "slice"
                                 : NULL,
                         !bytes);
        return NULL;
    }
    char *error = time    ? sim_check_time(text, field->form == SCHEMA_MICRO_TIME, &canonical)
                  : bytes ? sim_check_base64(text)
                          : sim_check_duration(text);
    if (error) sim_decode_fail(d, error, !bytes);
    return error ? NULL : canonical ? canonical : json_string(text);
}

static json_t *decode_plain(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                            const struct place *at)
{
    bool good = field->form == SCHEMA_STRING ? json_is_string(value)
                : field->form == SCHEMA_BOOL ? json_is_boolean(value)
                                             : json_is_number(value);
    if (good) return json_deep_copy(value);
    char *wanted = sim_decode_go_type(field, true);
    sim_decode_wrong(d, at, value, wanted,
                     field->form == SCHEMA_STRING ? "string"
                     : field->form == SCHEMA_BOOL ? "bool"
                                                  : "float64",
                     false);
    free(wanted);
    return NULL;
}

static json_t *decode_schema(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                             const struct place *at)
{
    if (!json_is_object(value)) return json_deep_copy(value);
    d->unchecked++;
    json_t *object = decode_object(d, schema_type_of_field(field), value, at);
    d->unchecked--;
    return object;
}

static json_t *decode_one(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                          const struct place *at)
{
    switch (field->form) {
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_DOUBLE: return decode_plain(d, field, value, at);
    case SCHEMA_INT32:
    case SCHEMA_INT64: return decode_int(d, field, value, at);
    case SCHEMA_BYTES:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION: return decode_text(d, field, value, at);
    case SCHEMA_QUANTITY: return decode_quantity(d, value, field->holder == SCHEMA_MAP ? -3 : -9);
    case SCHEMA_INT_OR_STRING: return decode_int_or_string(d, value, at);
    case SCHEMA_SCHEMA_OR_BOOL:
    case SCHEMA_SCHEMA_OR_ARRAY:
    case SCHEMA_SCHEMA_OR_STRINGS: return decode_schema(d, field, value, at);
    case SCHEMA_RAW:
    case SCHEMA_JSON: return json_deep_copy(value);
    case SCHEMA_OBJECT: break;
    }
    const struct schema_type *type = schema_type_of_field(field);
    if (json_is_object(value) && type) return decode_object(d, type, value, at);
    char *wanted = sim_decode_go_type(field, true);
    sim_decode_wrong(d, at, value, wanted, "struct", false);
    free(wanted);
    return NULL;
}

/* A value that is not there, where Go has one all the same. */
static json_t *zero(struct field_decoder *d, const struct schema_field *field, bool one)
{
    const struct schema_type *type = schema_type_of_field(field);
    if (!one && (field->optional || field->holder != SCHEMA_ONE)) return json_null();
    if (field->form == SCHEMA_OBJECT && type) {
        json_t *empty = json_object(), *object = decode_object(d, type, empty, NULL);
        json_decref(empty);
        return object;
    }
    switch (field->form) {
    case SCHEMA_STRING: return json_string("");
    case SCHEMA_BYTES: return one ? json_string("") : json_null();
    case SCHEMA_BOOL: return json_false();
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_DOUBLE:
    case SCHEMA_INT_OR_STRING: return json_integer(0);
    case SCHEMA_QUANTITY: return json_string("0");
    case SCHEMA_DURATION: return json_string("0s");
    default: return json_null();
    }
}

static json_t *decode_element(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                              const struct place *at)
{
    bool keeps = d->keeps && field->form == SCHEMA_BYTES; /* a server stores them as null */
    json_t *one = json_is_null(value) ? zero(d, field, !keeps) : decode_one(d, field, value, at);
    return one ? one : json_null();
}

static json_t *decode_list(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                           const struct place *at)
{
    json_t *list = json_array(), *item;
    size_t i;
    json_array_foreach ((json_t *)value, i, item) {
        struct place inner = {.above = at, .index = i};
        json_array_append_new(list, decode_element(d, field, item, &inner));
    }
    return list;
}

static json_t *decode_map(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                          const struct place *at)
{
    json_t *map = json_object(), *item;
    const char *key;
    json_object_foreach ((json_t *)value, key, item) {
        struct place inner = {.above = at, .key = key};
        bool lists = field->holder == SCHEMA_MAP_OF_NAMED_LISTS && json_is_array(item);
        json_object_set_new_nocheck(
            map, key, lists ? decode_list(d, field, item, &inner) : decode_element(d, field, item, &inner));
    }
    return map;
}

/* Returns the value of a field; NULL for null, and for what is wrong. */
static json_t *decode_field(struct field_decoder *d, const struct schema_field *field, const json_t *value,
                            const struct place *at)
{
    bool list = field->holder == SCHEMA_LIST || field->holder == SCHEMA_NAMED_LIST;
    if (json_is_null(value)) return NULL;
    if (field->holder == SCHEMA_ONE) return decode_one(d, field, value, at);
    if (list && json_is_array(value)) return decode_list(d, field, value, at);
    if (!list && json_is_object(value)) return decode_map(d, field, value, at);
    char *wanted = sim_decode_go_type(field, false);
    sim_decode_wrong(d, at, value, wanted, list ? "slice" : "map", false);
    free(wanted);
    return NULL;
}

/* --- Objects */

/* Finds the field; `*order` is its number among all fields of the type, with those of inlined ones. */
static const struct schema_field *find(const struct schema_type *type, const char *key, size_t *order,
                                       const char **inlined)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        if (*field->name) {
            if (*field->name == *key && strcmp(field->name, key) == 0) return field;
            ++*order;
            continue;
        }
        const struct schema_field *inner = find(schema_type_of_field(field), key, order, inlined);
        if (inner && !*inlined) *inlined = sim_decode_unqualified(field->object);
        if (inner) return inner;
    }
    return NULL;
}

static bool omitted(const struct schema_field *field, const json_t *value)
{
    if (!value) return true;
    if (field->always || field->optional) return false;
    switch (json_typeof(value)) {
    case JSON_OBJECT: return json_object_size(value) == 0 && field->holder != SCHEMA_ONE;
    case JSON_ARRAY: return json_array_size(value) == 0;
    case JSON_STRING: return json_string_length(value) == 0;
    case JSON_INTEGER: return json_integer_value(value) == 0 && field->form != SCHEMA_INT_OR_STRING;
    case JSON_REAL: return json_real_value(value) == 0;
    case JSON_TRUE: return false;
    default: return true;
    }
}

/* Writes the values in the order of the Go source, and frees them. */
static void put_fields(struct field_decoder *d, json_t *out, const struct schema_type *type, json_t **values,
                       size_t *order)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        if (!*field->name) {
            put_fields(d, out, schema_type_of_field(field), values, order);
            continue;
        }
        json_t *value = values[(*order)++];
        if (!value && field->always) value = zero(d, field, false);
        if (omitted(field, value) && !(d->keeps && value && field->holder != SCHEMA_ONE))
            json_decref(value);
        else
            json_object_set_new_nocheck(out, field->name, value);
    }
}

static json_t *decode_object(struct field_decoder *d, const struct schema_type *type, const json_t *value,
                             const struct place *at)
{
    json_t *values[FIELDS_MAX] = {0}, *out = json_object(), *item;
    size_t end = 0;
    const char *key;
    json_object_foreach ((json_t *)value, key, item) {
        struct place inner = {.above = at, .key = key, .in = type};
        size_t order = 0;
        const struct schema_field *field = find(type, key, &order, &inner.inlined);
        must(order < FIELDS_MAX);
        if (field)
            values[order] = decode_field(d, field, item, &inner);
        else
            sim_decode_unknown(d, at, key);
    }
    put_fields(d, out, type, values, &end);
    return out;
}

json_t *sim_decode(const struct schema_type *type, const json_t *object, struct sim_decoding *decoding)
{
    struct field_decoder d = {.converts = decoding->converts, .keeps = decoding->keeps};
    json_t *decoded = decode_object(&d, type, object, NULL);
    *decoding = (struct sim_decoding){d.keeps, d.converts, d.error, d.unknown};
    if (!d.error) return decoded;
    json_decref(decoded);
    json_decref(d.unknown);
    decoding->unknown = NULL;
    return NULL;
}
