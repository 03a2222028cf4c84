/* JSON to protobuf; see wire.h. The text is read once, and not parsed first; a message is written behind room
 * that is made when its length is known: nothing is allocated for parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/base64.h"
#include "sim/proto/wire_internal.h"
#include "sim/text/protobuf.h"
#include "sim/text/text.h"

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

static void put_text(struct buf *out, uint32_t number, struct str text)
{
    put_varint(out, (uint64_t)number << TAG_BITS | SIM_PROTOBUF_BYTES);
    put_varint(out, text.n);
    buf_str(out, text);
}

static struct str bare(struct str quoted)
{
    return (struct str){quoted.p + 1, quoted.n - 2};
}

/* `quoted` has its quotes, and may have escapes. */
static void put_string(struct buf *out, uint32_t number, struct str quoted)
{
    size_t from = out->len;
    if (!memchr(quoted.p, '\\', quoted.n)) {
        put_text(out, number, bare(quoted));
        return;
    }
    sim_text_unescape(out, quoted);
    sim_wire_close(out, number, from);
}

static int64_t integer(struct str value)
{
    bool real =
        memchr(value.p, '.', value.n) || memchr(value.p, 'e', value.n) || memchr(value.p, 'E', value.n);
    return real ? (int64_t)strtod(value.p, NULL) : strtoll(value.p, NULL, 10);
}

/* --- forms with messages of their own */

static void put_int_or_string(struct buf *out, struct str value)
{
    bool is_text = *value.p == '"';
    put_number(out, 1, is_text);
    if (is_text)
        put_string(out, 3, value);
    else
        put_number(out, 2, integer(value));
}

static void put_time(struct buf *out, struct str value)
{
    enum { TIME_MAX = 64 };
    char text[TIME_MAX];
    int64_t seconds, nanos;
    if (*value.p != '"' || value.n > TIME_MAX) return;
    snprintf(text, sizeof text, "%.*s", (int)value.n - 2, value.p + 1);
    if (!sim_wire_parse_time(text, &seconds, &nanos)) return;
    put_number(out, 1, seconds);
    put_number(out, 2, nanos);
}

static void put_base64(struct buf *out, struct str quoted)
{
    struct buf text = {0};
    sim_text_unescape(&text, quoted);
    base64_decode(buf_slice(&text), out);
    buf_clear(&text);
}

static void put_value(struct buf *out, const struct schema_field *field, uint32_t number,
                      struct sim_reader *in, int depth);

static void put_message(struct buf *out, const struct schema_type *type, struct sim_reader *in, int depth);

/* One of the forms that hold a schema of a CRD, or something in its place. */
static void put_schema_or(struct buf *out, const struct schema_field *field, struct sim_reader *in, int depth)
{
    const struct schema_type *type = schema_type_of_field(field);
    size_t from;
    if (*in->at == '{') {
        uint32_t number = field->form == SCHEMA_SCHEMA_OR_BOOL ? 2 : 1;
        if (number == 2) put_number(out, 1, 1);
        from = out->len;
        put_message(out, type, in, depth);
        sim_wire_close(out, number, from);
    } else if (*in->at == '[') {
        in->at++;
        while (sim_reader_next(in, ']', NULL)) {
            from = out->len;
            if (*in->at == '{')
                put_message(out, type, in, depth);
            else
                sim_text_unescape(out, sim_reader_take(in));
            sim_wire_close(out, 2, from);
        }
    } else
        put_number(out, 1, *sim_reader_take(in).p == 't');
}

/* Appends the content of a value that is bytes or a message. */
static void put_content(struct buf *out, const struct schema_field *field, struct sim_reader *in, int depth)
{
    switch (field->form) {
    case SCHEMA_BYTES: put_base64(out, sim_reader_take(in)); break;
    case SCHEMA_INT_OR_STRING: put_int_or_string(out, sim_reader_take(in)); break;
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME: put_time(out, sim_reader_take(in)); break;
    case SCHEMA_RAW:
    case SCHEMA_JSON: put_text(out, 1, sim_reader_take(in)); break;
    case SCHEMA_SCHEMA_OR_BOOL:
    case SCHEMA_SCHEMA_OR_ARRAY:
    case SCHEMA_SCHEMA_OR_STRINGS: put_schema_or(out, field, in, depth); break;
    case SCHEMA_QUANTITY:
        if (*in->at == '"')
            put_string(out, 1, sim_reader_take(in));
        else
            put_text(out, 1, sim_reader_take(in)); /* a number is its text */
        break;
    default: put_message(out, schema_type_of_field(field), in, depth);
    }
}

static bool fits(enum schema_form form, char first)
{
    switch (form) {
    case SCHEMA_STRING:
    case SCHEMA_BYTES: return first == '"';
    case SCHEMA_OBJECT: return first == '{';
    default: return first != 'n';
    }
}

/* --- fields */

static void put_value(struct buf *out, const struct schema_field *field, uint32_t number,
                      struct sim_reader *in, int depth)
{
    size_t from = out->len;
    if (field->form == SCHEMA_BOOL)
        put_number(out, number, *sim_reader_take(in).p == 't');
    else if (field->form == SCHEMA_INT32 || field->form == SCHEMA_INT64)
        put_number(out, number, integer(sim_reader_take(in)));
    else if (field->form == SCHEMA_DOUBLE)
        put_double(out, number, strtod(sim_reader_take(in).p, NULL));
    else if (!fits(field->form, *in->at))
        sim_reader_take(in);
    else if (field->form == SCHEMA_STRING)
        put_string(out, number, sim_reader_take(in));
    else {
        put_content(out, field, in, depth);
        sim_wire_close(out, number, from);
    }
}

static void put_list(struct buf *out, const struct schema_field *field, uint32_t number,
                     struct sim_reader *in, int depth)
{
    if (*in->at != '[') {
        sim_reader_take(in);
        return;
    }
    in->at++;
    while (sim_reader_next(in, ']', NULL)) put_value(out, field, number, in, depth);
}

static void put_map(struct buf *out, const struct schema_field *field, struct sim_reader *in, int depth)
{
    struct str key;
    if (*in->at != '{') {
        sim_reader_take(in);
        return;
    }
    in->at++;
    while (sim_reader_next(in, '}', &key)) {
        size_t from = out->len;
        put_string(out, 1, (struct str){key.p - 1, key.n + 2});
        if (field->holder == SCHEMA_MAP) {
            put_value(out, field, 2, in, depth);
        } else {
            size_t inner = out->len;
            put_list(out, field, 1, in, depth);
            sim_wire_close(out, 2, inner);
        }
        sim_wire_close(out, field->number, from);
    }
}

static void put_field(struct buf *out, const struct schema_field *field, struct sim_reader *in, int depth)
{
    size_t from = out->len;
    switch (field->holder) {
    case SCHEMA_ONE: put_value(out, field, field->number, in, depth); break;
    case SCHEMA_LIST: put_list(out, field, field->number, in, depth); break;
    case SCHEMA_NAMED_LIST:
        put_list(out, field, 1, in, depth);
        sim_wire_close(out, field->number, from);
        break;
    default: put_map(out, field, in, depth);
    }
}

/* Members come in the order of the type: that behind the last one found is looked at first. */
static const struct schema_field *field_named(const struct schema_type *type, struct str name, size_t *next)
{
    for (size_t i = 0; name.n && i < type->field_count; i++, ++*next) {
        if (*next >= type->field_count) *next = 0;
        const char *own = type->fields[*next].name;
        if (*own == *name.p && strncmp(own, name.p, name.n) == 0 && !own[name.n])
            return &type->fields[(*next)++];
    }
    return NULL;
}

/* Structs whose fields are members of the object around them are messages of their own. */
static void put_inlined(struct buf *out, const struct schema_type *type, struct sim_reader whole, int depth)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct schema_field *field = &type->fields[i];
        struct sim_reader again = whole;
        if (*field->name || !field->number) continue;
        put_field(out, field, &again, depth);
    }
}

static void put_message(struct buf *out, const struct schema_type *type, struct sim_reader *in, int depth)
{
    const char *from = in->at++;
    struct str key;
    size_t next = 0;
    if (!type || depth > SIM_WIRE_DEPTH_MAX) {
        in->at = from;
        sim_reader_take(in);
        return;
    }
    while (sim_reader_next(in, '}', &key)) {
        const struct schema_field *field = field_named(type, key, &next);
        if (field && field->number && *in->at != 'n')
            put_field(out, field, in, depth + 1);
        else
            sim_reader_take(in);
    }
    put_inlined(out, type, (struct sim_reader){from, in->at, in->is_bad, NULL}, depth + 1);
}

bool sim_wire_put_message(struct buf *out, const struct schema_type *type, struct str json)
{
    struct sim_reader in = {json.p, json.p + json.n, json.n < 2 || *json.p != '{', NULL};
    if (!in.is_bad) put_message(out, type, &in, 0);
    return !in.is_bad;
}
