/* Messages of Protocol Buffers on the wire: fields read one by one, and written without knowing their types.
 * Owner: what is read is borrowed from the message; what is written belongs to the buffer. May be called
 * anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    SIM_PROTOBUF_VARINT = 0,
    SIM_PROTOBUF_FIXED64 = 1,
    SIM_PROTOBUF_BYTES = 2,
    SIM_PROTOBUF_VARINT_MAX = 10
};

struct sim_protobuf_field {
    uint32_t number;
    unsigned type;
    uint64_t integer; /* of SIM_PROTOBUF_VARINT and SIM_PROTOBUF_FIXED64; else 0 */
    struct str whole; /* with tag and length */
    struct str value; /* of SIM_PROTOBUF_BYTES; else empty */
};

/* Reads the next field of a message; moves `*rest` behind it. Returns false at the end, and, with `rest->n`
 * not 0, if the rest is not a field. */
bool sim_protobuf_next(struct str *rest, struct sim_protobuf_field *field);
/* Finds the first field of that number, which must be of bytes. */
bool sim_protobuf_find(struct str message, uint32_t number, struct str *value);

/* Writes a number, of at most SIM_PROTOBUF_VARINT_MAX bytes; returns how many. */
size_t sim_protobuf_varint(char *to, uint64_t number);
/* Returns the number of bytes before a value of so many: its tag, for fields up to 15, and its length. */
size_t sim_protobuf_head_size(size_t len);
size_t sim_protobuf_head(char *to, uint32_t number, size_t len);
void sim_protobuf_put(struct buf *out, uint32_t number, struct str value);
void sim_protobuf_put_int(struct buf *out, uint32_t number, uint64_t value);
