/* Protobuf to JSON; see wire.h. Every length and number is checked; fields that the type does not have are
 * skipped, as a server of another version would. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/base64.h"
#include "sim/proto/wire_internal.h"
#include "sim/text/protobuf.h"
#include "sim/text/tree.h"

struct proto_reader {
    struct err *err; /* set at the first mistake */
    bool has_failed;
};

static json_t *fail(struct proto_reader *r, const struct schema_field *field, const char *why)
{
    if (!r->has_failed)
        err_set(r->err, ERR_PARSE, "proto: %s%s%s", field ? field->name : "", field ? ": " : "", why);
    r->has_failed = true;
    return NULL;
}

static json_t *get_message(struct proto_reader *r, const struct schema_type *type, struct str bytes,
                           int depth);

/* Reads the next field of a message; false at its end, and with an error. */
static bool next(struct proto_reader *r, const struct schema_field *field, struct str *rest,
                 struct sim_protobuf_field *found)
{
    if (r->has_failed || sim_protobuf_next(rest, found)) return !r->has_failed;
    if (rest->n) fail(r, field, "the message is cut off or malformed");
    return false;
}

static json_t *get_text(struct proto_reader *r, const struct schema_field *field, struct str bytes)
{
    json_t *text = json_stringn(bytes.p ? bytes.p : "", bytes.n);
    return text ? text : fail(r, field, "invalid UTF-8");
}

static json_t *get_base64(struct str bytes)
{
    struct buf text = {0};
    base64_encode(bytes, &text);
    json_t *value = json_stringn(text.data ? text.data : "", text.len);
    buf_clear(&text);
    return value;
}

/* --- forms with messages of their own */

/* Numbers of the first three fields, and the bytes of them. */
struct parts {
    int64_t number[4];
    struct str bytes[4];
    bool has[4];
};

static struct parts split(struct proto_reader *r, const struct schema_field *field, struct str bytes)
{
    struct parts parts = {0};
    struct sim_protobuf_field found;
    while (next(r, field, &bytes, &found)) {
        if (found.number > 3) continue;
        parts.has[found.number] = true;
        parts.number[found.number] = (int64_t)found.integer;
        parts.bytes[found.number] = found.value;
    }
    return parts;
}

static json_t *get_int_or_string(struct proto_reader *r, const struct schema_field *field, struct str bytes)
{
    struct parts parts = split(r, field, bytes);
    return parts.number[1] ? get_text(r, field, parts.bytes[3]) : json_integer((int32_t)parts.number[2]);
}

static json_t *get_time(struct proto_reader *r, const struct schema_field *field, struct str bytes)
{
    struct parts parts = split(r, field, bytes);
    if (!parts.has[1] && !parts.has[2]) return json_null();
    json_t *time = sim_wire_time(parts.number[1], parts.number[2], field->form == SCHEMA_MICRO_TIME);
    return time ? time : fail(r, field, "a time that no year of four digits has");
}

static json_t *get_json(struct proto_reader *r, const struct schema_field *field, struct str bytes)
{
    struct parts parts = split(r, field, bytes);
    json_error_t error;
    if (!parts.bytes[1].n) return json_null();
    json_t *value = sim_parse(parts.bytes[1], JSON_DECODE_ANY, &error);
    return value ? value : fail(r, field, "not JSON");
}

static json_t *get_schema_list(struct proto_reader *r, const struct schema_field *field, struct str bytes,
                               int depth)
{
    json_t *list = json_array();
    struct sim_protobuf_field found;
    while (next(r, field, &bytes, &found)) {
        if (found.number != 2) continue;
        json_t *item = field->form == SCHEMA_SCHEMA_OR_STRINGS
                           ? get_text(r, field, found.value)
                           : get_message(r, schema_type_of_field(field), found.value, depth);
        if (item) json_array_append_new(list, item);
    }
    return list;
}

static json_t *get_schema_or(struct proto_reader *r, const struct schema_field *field, struct str bytes,
                             int depth)
{
    struct parts parts = split(r, field, bytes);
    bool or_bool = field->form == SCHEMA_SCHEMA_OR_BOOL;
    unsigned schema = or_bool ? 2 : 1;
    if (parts.has[schema]) return get_message(r, schema_type_of_field(field), parts.bytes[schema], depth);
    return or_bool ? json_boolean(parts.number[1]) : get_schema_list(r, field, bytes, depth);
}

/* --- fields */

static json_t *get_bytes(struct proto_reader *r, const struct schema_field *field, struct str bytes,
                         int depth)
{
    switch (field->form) {
    case SCHEMA_STRING: return get_text(r, field, bytes);
    case SCHEMA_BYTES: return get_base64(bytes);
    case SCHEMA_QUANTITY: return get_text(r, field, split(r, field, bytes).bytes[1]);
    case SCHEMA_INT_OR_STRING: return get_int_or_string(r, field, bytes);
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME: return get_time(r, field, bytes);
    case SCHEMA_RAW:
    case SCHEMA_JSON: return get_json(r, field, bytes);
    case SCHEMA_SCHEMA_OR_BOOL:
    case SCHEMA_SCHEMA_OR_ARRAY:
    case SCHEMA_SCHEMA_OR_STRINGS: return get_schema_or(r, field, bytes, depth);
    default: return get_message(r, schema_type_of_field(field), bytes, depth);
    }
}

static json_t *get_value(struct proto_reader *r, const struct schema_field *field,
                         const struct sim_protobuf_field *found, int depth)
{
    enum schema_form form = field->form;
    bool is_number = form == SCHEMA_BOOL || form == SCHEMA_INT32 || form == SCHEMA_INT64;
    double real;
    if (is_number != (found->type == SIM_PROTOBUF_VARINT)) return fail(r, field, "wrong wire type");
    if (form == SCHEMA_BOOL) return json_boolean(found->integer);
    if (form == SCHEMA_INT32) return json_integer((int32_t)found->integer);
    if (form == SCHEMA_INT64) return json_integer((json_int_t)found->integer);
    if (form == SCHEMA_DOUBLE) {
        if (found->type != SIM_PROTOBUF_FIXED64) return fail(r, field, "wrong wire type");
        memcpy(&real, &found->integer, sizeof real);
        json_t *value = json_real(real);
        return value ? value : fail(r, field, "not a number");
    }
    if (found->type != SIM_PROTOBUF_BYTES) return fail(r, field, "wrong wire type");
    return get_bytes(r, field, found->value, depth);
}

/* A value of Go that its JSON leaves out if the field is no pointer. */
static bool is_empty(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) ||
           (json_is_string(value) && !json_string_length(value)) ||
           (json_is_integer(value) && json_integer_value(value) == 0) ||
           (json_is_real(value) && json_real_value(value) == 0);
}

static json_t *list_in(json_t *object, const struct schema_field *field, const char *key)
{
    json_t *holder = object, *list;
    if (field->holder == SCHEMA_MAP_OF_NAMED_LISTS) holder = sim_submap(object, field->name);
    list = json_object_get(holder, key);
    if (!json_is_array(list)) {
        list = json_array();
        json_object_set_new(holder, key, list);
    }
    return list;
}

/* Elements of a list that is a message of its own. */
static void get_named_list(struct proto_reader *r, const struct schema_field *field, struct str bytes,
                           json_t *list, int depth)
{
    struct sim_protobuf_field found;
    while (next(r, field, &bytes, &found)) {
        json_t *item = found.number == 1 ? get_value(r, field, &found, depth) : NULL;
        if (item) json_array_append_new(list, item);
    }
}

static void get_entry(struct proto_reader *r, const struct schema_field *field, struct str bytes,
                      json_t *object, int depth)
{
    struct parts parts = split(r, field, bytes);
    char *key = xstrndup(parts.bytes[1].p ? parts.bytes[1].p : "", parts.bytes[1].n);
    json_t *name = get_text(r, field, parts.bytes[1]), *value;
    if (!name) {
        free(key);
        return;
    }
    json_decref(name);
    if (field->holder == SCHEMA_MAP_OF_NAMED_LISTS) {
        get_named_list(r, field, parts.bytes[2], list_in(object, field, key), depth);
    } else {
        value = field->form == SCHEMA_BOOL ? json_boolean(parts.number[2])
                : field->form == SCHEMA_INT32 || field->form == SCHEMA_INT64
                    ? json_integer(parts.number[2])
                    : get_bytes(r, field, parts.bytes[2], depth);
        if (value) json_object_set_new(sim_submap(object, field->name), key, value);
    }
    free(key);
}

static void get_one(struct proto_reader *r, const struct schema_field *field,
                    const struct sim_protobuf_field *found, json_t *object, int depth)
{
    json_t *value = get_value(r, field, found, depth);
    if (!value) return;
    if (!*field->name) {
        json_object_update_new(object, value); /* an inlined struct */
    } else if (!field->optional && !field->always && is_empty(value)) {
        json_decref(value);
    } else {
        json_object_set_new(object, field->name, value);
    }
}

static void get_field(struct proto_reader *r, const struct schema_field *field,
                      const struct sim_protobuf_field *found, json_t *object, int depth)
{
    if (field->holder == SCHEMA_ONE) {
        get_one(r, field, found, object, depth);
    } else if (field->holder == SCHEMA_LIST) {
        json_t *item = get_value(r, field, found, depth);
        if (item) json_array_append_new(list_in(object, field, field->name), item);
    } else if (found->type != SIM_PROTOBUF_BYTES) {
        fail(r, field, "wrong wire type");
    } else if (field->holder == SCHEMA_NAMED_LIST) {
        get_named_list(r, field, found->value, list_in(object, field, field->name), depth);
    } else {
        get_entry(r, field, found->value, object, depth);
    }
}

/* Adds fields that Go always writes, and the message did not have. */
static void add_always(json_t *object, const struct schema_type *type, int depth)
{
    for (size_t i = 0; i < type->field_count && depth <= SIM_WIRE_DEPTH_MAX; i++) {
        const struct schema_field *field = &type->fields[i];
        if (!field->always || !*field->name || json_object_get(object, field->name)) continue;
        json_t *value;
        if (field->holder != SCHEMA_ONE || field->optional)
            value = json_null();
        else if (field->form == SCHEMA_STRING)
            value = json_string("");
        else if (field->form == SCHEMA_BOOL)
            value = json_false();
        else if (field->form == SCHEMA_INT32 || field->form == SCHEMA_INT64)
            value = json_integer(0);
        else if (field->form == SCHEMA_INT_OR_STRING)
            value = json_integer(0);
        else if (field->form == SCHEMA_QUANTITY)
            value = json_string("0");
        else if (field->form == SCHEMA_OBJECT) {
            value = json_object();
            const struct schema_type *inner = schema_type_of_field(field);
            if (inner) add_always(value, inner, depth + 1);
        } else
            value = json_null();
        json_object_set_new(object, field->name, value);
    }
}

static json_t *get_message(struct proto_reader *r, const struct schema_type *type, struct str bytes,
                           int depth)
{
    struct sim_protobuf_field found;
    if (depth > SIM_WIRE_DEPTH_MAX) return fail(r, NULL, "nested too deeply");
    if (!type) return json_object();
    json_t *object = json_object();
    while (next(r, NULL, &bytes, &found)) {
        const struct schema_field *field = schema_field_numbered(type, found.number);
        if (field) get_field(r, field, &found, object, depth + 1);
    }
    add_always(object, type, depth);
    if (!r->has_failed) return object;
    json_decref(object);
    return NULL;
}

json_t *sim_wire_get_message(const struct schema_type *type, struct str bytes, struct err *err)
{
    struct proto_reader reader = {.err = err};
    return get_message(&reader, type, bytes, 0);
}
