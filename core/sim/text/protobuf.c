/* Wire format of Protocol Buffers; see protobuf.h. */
#include "sim/text/protobuf.h"

#include <string.h>

#include "base/must.h"

enum { FIXED32 = 5 };

static bool read_varint(struct str *rest, uint64_t *number)
{
    *number = 0;
    for (unsigned i = 0; i < SIM_PROTOBUF_VARINT_MAX && i < rest->n; i++) {
        unsigned char byte = (unsigned char)rest->p[i];
        *number |= (uint64_t)(byte & 127) << (7 * i);
        if (byte & 128) continue;
        rest->p += i + 1;
        rest->n -= i + 1;
        return true;
    }
    return false;
}

/* Sets `len` to the length of the value at `*at`, and steps over a length prefix. */
static bool measure(struct str *at, unsigned type, uint64_t *len, uint64_t *integer)
{
    struct str behind = *at;
    switch (type) {
    case SIM_PROTOBUF_VARINT:
        if (!read_varint(&behind, integer)) return false;
        *len = at->n - behind.n;
        return true;
    case SIM_PROTOBUF_BYTES: return read_varint(at, len);
    case SIM_PROTOBUF_FIXED64: *len = 8; return true;
    case FIXED32: *len = 4; return true;
    default: return false;
    }
}

bool sim_protobuf_next(struct str *rest, struct sim_protobuf_field *field)
{
    struct str at = *rest;
    uint64_t tag, len;
    if (!read_varint(&at, &tag) || tag >> 3 == 0 || tag >> 32) return false;
    *field = (struct sim_protobuf_field){.number = (uint32_t)(tag >> 3), .type = tag & 7};
    if (!measure(&at, field->type, &len, &field->integer) || len > at.n) return false;
    if (field->type == SIM_PROTOBUF_FIXED64) memcpy(&field->integer, at.p, sizeof field->integer);
    if (field->type == SIM_PROTOBUF_BYTES) field->value = (struct str){at.p, (size_t)len};
    at.p += len;
    at.n -= (size_t)len;
    field->whole = (struct str){rest->p, (size_t)(at.p - rest->p)};
    *rest = at;
    return true;
}

bool sim_protobuf_find(struct str message, uint32_t number, struct str *value)
{
    struct sim_protobuf_field field;
    while (sim_protobuf_next(&message, &field)) {
        if (field.number != number) continue;
        *value = field.value;
        return field.type == SIM_PROTOBUF_BYTES;
    }
    return false;
}

size_t sim_protobuf_varint(char *to, uint64_t number)
{
    size_t n = 0;
    for (; number > 127; number >>= 7) to[n++] = (char)(number | 128);
    to[n++] = (char)number;
    return n;
}

size_t sim_protobuf_head_size(size_t len)
{
    size_t n = 2;
    for (; len > 127; len >>= 7) n++;
    return n;
}

size_t sim_protobuf_head(char *to, uint32_t number, size_t len)
{
    must(number <= 15);
    to[0] = (char)(number << 3 | SIM_PROTOBUF_BYTES);
    return 1 + sim_protobuf_varint(to + 1, len);
}

void sim_protobuf_put(struct buf *out, uint32_t number, struct str value)
{
    out->len += sim_protobuf_head(buf_reserve(out, 1 + SIM_PROTOBUF_VARINT_MAX), number, value.n);
    buf_str(out, value);
}

void sim_protobuf_put_int(struct buf *out, uint32_t number, uint64_t value)
{
    must(number <= 15);
    buf_putc(out, (char)(number << 3 | SIM_PROTOBUF_VARINT));
    out->len += sim_protobuf_varint(buf_reserve(out, SIM_PROTOBUF_VARINT_MAX), value);
}
