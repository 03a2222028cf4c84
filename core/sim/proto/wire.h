/* Objects in Kubernetes' protobuf: from JSON and back, by the types of the schema bundle. Owner: buffers are
 * the caller's, results are new references. May be called anywhere.
 *
 * A message stands in an envelope: four bytes, then apiVersion and kind beside the object's own message. What
 * Go's types would not write as JSON, such as empty strings, is not in the result; what they always write,
 * such as an empty status, is. */
#pragma once
#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "schema/schema.h"

/* Media types; that of a watch has length-prefixed events. */
#define SIM_WIRE_TYPE  "application/vnd.kubernetes.protobuf"
#define SIM_WIRE_WATCH "application/vnd.kubernetes.protobuf;stream=watch"

/* Returns the type of an object or of what is sent with requests: "v1" "DeleteOptions"; NULL if unknown. */
const struct schema_type *sim_wire_type(const char *api_version, const char *kind);

/* Appends the object, or list, in its envelope; false, with nothing appended, if its type is unknown. */
bool sim_wire_put(struct buf *out, const json_t *object);
/* Appends the message of a known type, without an envelope. Values of another form than the type has are left
 * out. */
void sim_wire_put_message(struct buf *out, const struct schema_type *type, const json_t *object);
/* Appends the envelope around the message that stands in `out` from `from` on. */
void sim_wire_wrap(struct buf *out, size_t from, const char *api_version, const char *kind);

/* A list that is written item by item. */
struct sim_wire_list {
    const char *api_version, *kind;
    const struct schema_type *type; /* of its items */
    struct buf *out;
    size_t from;
};

/* Appends the head of a list with that metadata, its items, and the envelope around it. */
void sim_wire_list_begin(struct sim_wire_list *list, struct buf *out, const json_t *metadata);
void sim_wire_list_add(struct sim_wire_list *list, const json_t *item);
void sim_wire_list_end(struct sim_wire_list *list);

/* Reads an object in its envelope. NULL with an error that says what is wrong. */
json_t *sim_wire_get(struct str bytes, struct err *err);

/* --- parts of messages (wire_put.c) */

/* Appends a field of bytes: `from` is where its value was appended. */
void sim_wire_close(struct buf *out, uint32_t number, size_t from);
