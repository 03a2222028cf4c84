/* JSON to protobuf; see wire.h. A message is written behind room that is made when its length is known:
 * nothing is allocated for parts. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/base64.h"
#include "sim/proto/wire_internal.h"
#include "sim/text/protobuf.h"
#include "sim/text/tree.h"

enum { TAG_BITS = 3 };

static void put_varint(struct buf *out, uint64_t number)
{
    out->len += sim_protobuf_varint(buf_reserve(out, SIM_PROTOBUF_VARINT_MAX), number);
}

static void put_number(struct buf *out, uint32_t field, int64_t number)
{
    put_varint(out, (uint64_t)field << TAG_BITS | SIM_PROTOBUF_VARINT);
    put_varint(out, (uint64_t)number);
}

static void put_double(struct buf *out, uint32_t field, double number)
{
    put_varint(out, (uint64_t)field << TAG_BITS | SIM_PROTOBUF_FIXED64);
    buf_append(out, (const char *)&number, sizeof number); /* little endian, as this program's machines are */
}

void sim_wire_close(struct buf *out, uint32_t number, size_t from)
{
    char head[2 * SIM_PROTOBUF_VARINT_MAX];
    size_t len = out->len - from;
    size_t n = sim_protobuf_varint(head, (uint64_t)number << TAG_BITS | SIM_PROTOBUF_BYTES);
    n += sim_protobuf_varint(head + n, len);
    buf_reserve(out, n);
    memmove(out->data + from + n, out->data + from, len);
    memcpy(out->data + from, head, n);
    out->len += n;
}

static void put_text(struct buf *out, uint32_t number, const char *text, size_t n)
{
    size_t from = out->len;
    buf_append(out, text, n);
    sim_wire_close(out, number, from);
}

/* --- forms with messages of their own */

static void put_int_or_string(struct buf *out, const json_t *value)
{
    bool is_text = json_is_string(value);
    put_number(out, 1, is_text);
    if (is_text)
        put_text(out, 3, json_string_value(value), json_string_length(value));
    else
        put_number(out, 2, json_integer_value(value));
}

static void put_time(struct buf *out, const json_t *value)
{
    int64_t seconds, nanos;
    if (!json_is_string(value) || !sim_wire_parse_time(json_string_value(value), &seconds, &nanos)) return;
    put_number(out, 1, seconds);
    put_number(out, 2, nanos);
}

/* A number of a quantity is its text. */
static void put_quantity(struct buf *out, const json_t *value)
{
    size_t from = out->len;
    if (json_is_string(value))
        buf_append(out, json_string_value(value), json_string_length(value));
    else
        sim_put_json(out, value);
    sim_wire_close(out, 1, from);
}

static void put_json(struct buf *out, const json_t *value)
{
    size_t from = out->len;
    sim_put_json(out, value);
    sim_wire_close(out, 1, from);
}

static void put_value(struct buf *out, const struct schema_field *field, uint32_t number, const json_t *value,
                      int depth);

static void put_message(struct buf *out, const struct schema_type *type, const json_t *object, int depth);

/* One of the forms that hold a schema of a CRD, or something in its place. */
static void put_schema_or(struct buf *out, const struct schema_field *field, const json_t *value, int depth)
{
    const struct schema_type *type = schema_type_of_field(field);
    size_t i, from;
    json_t *item;
    if (json_is_boolean(value)) put_number(out, 1, json_is_true(value));
    if (json_is_object(value)) {
        uint32_t number = field->form == SCHEMA_SCHEMA_OR_BOOL ? 2 : 1;
        if (number == 2) put_number(out, 1, 1);
        from = out->len;
        put_message(out, type, value, depth);
        sim_wire_close(out, number, from);
    }
    json_array_foreach (value, i, item) {
        from = out->len;
        if (json_is_string(item))
            buf_append(out, json_string_value(item), json_string_length(item));
        else
            put_message(out, type, item, depth);
        sim_wire_close(out, 2, from);
    }
}

/* Appends the content of a value that is bytes or a message. */
static void put_content(struct buf *out, const struct schema_field *field, const json_t *value, int depth)
{
    switch (field->form) {
    case SCHEMA_STRING: buf_append(out, json_string_value(value), json_string_length(value)); break;
    case SCHEMA_BYTES:
        base64_decode((struct str){json_string_value(value), json_string_length(value)}, out);
        break;
    case SCHEMA_QUANTITY: put_quantity(out, value); break;
    case SCHEMA_INT_OR_STRING: put_int_or_string(out, value); break;
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME: put_time(out, value); break;
    case SCHEMA_RAW:
    case SCHEMA_JSON: put_json(out, value); break;
    case SCHEMA_SCHEMA_OR_BOOL:
    case SCHEMA_SCHEMA_OR_ARRAY:
    case SCHEMA_SCHEMA_OR_STRINGS: put_schema_or(out, field, value, depth); break;
    default: put_message(out, schema_type_of_field(field), value, depth);
    }
}

static bool fits(enum schema_form form, const json_t *value)
{
    switch (form) {
    case SCHEMA_STRING:
    case SCHEMA_BYTES: return json_is_string(value);
    case SCHEMA_OBJECT: return json_is_object(value);
    default: return !json_is_null(value);
    }
}

/* --- fields */

static void put_value(struct buf *out, const struct schema_field *field, uint32_t number, const json_t *value,
                      int depth)
{
    size_t from = out->len;
    if (field->form == SCHEMA_BOOL) {
        put_number(out, number, json_is_true(value));
    } else if (field->form == SCHEMA_INT32 || field->form == SCHEMA_INT64) {
        put_number(out, number,
                   json_is_real(value) ? (int64_t)json_real_value(value) : json_integer_value(value));
    } else if (field->form == SCHEMA_DOUBLE) {
        put_double(out, number, json_number_value(value));
    } else if (fits(field->form, value)) {
        put_content(out, field, value, depth);
        sim_wire_close(out, number, from);
    }
}

static void put_list(struct buf *out, const struct schema_field *field, uint32_t number, const json_t *list,
                     int depth)
{
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) put_value(out, field, number, item, depth);
}

static void put_map(struct buf *out, const struct schema_field *field, const json_t *map, int depth)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)map, key, value) {
        size_t from = out->len;
        put_text(out, 1, key, strlen(key));
        if (field->holder == SCHEMA_MAP) {
            put_value(out, field, 2, value, depth);
        } else {
            size_t inner = out->len;
            put_list(out, field, 1, value, depth);
            sim_wire_close(out, 2, inner);
        }
        sim_wire_close(out, field->number, from);
    }
}

static void put_field(struct buf *out, const struct schema_field *field, const json_t *value, int depth)
{
    size_t from = out->len;
    switch (field->holder) {
    case SCHEMA_ONE: put_value(out, field, field->number, value, depth); break;
    case SCHEMA_LIST: put_list(out, field, field->number, value, depth); break;
    case SCHEMA_NAMED_LIST:
        put_list(out, field, 1, value, depth);
        sim_wire_close(out, field->number, from);
        break;
    default: put_map(out, field, value, depth);
    }
}

static void put_message(struct buf *out, const struct schema_type *type, const json_t *object, int depth)
{
    if (!type || depth > SIM_WIRE_DEPTH_MAX) return;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        const json_t *value = *field->name ? json_object_get(object, field->name) : object;
        if (field->number && value && !json_is_null(value)) put_field(out, field, value, depth + 1);
    }
}

void sim_wire_put_message(struct buf *out, const struct schema_type *type, const json_t *object)
{
    put_message(out, type, object, 0);
}
