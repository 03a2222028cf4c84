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

/* Appends the object, or list, that a compact text is, in its envelope; false, with nothing appended, if its
 * type is unknown, or the text no JSON. */
bool sim_wire_put(struct buf *out, struct str json);
/* Appends the message of a known type, without an envelope. Values of another form than the type has are left
 * out. False if the text is not valid and compact. */
bool sim_wire_put_message(struct buf *out, const struct schema_type *type, struct str json);

/* A list item by item: the head, with its metadata in JSON, in front of `len` bytes of items; and an item.
 * The lists of meta.k8s.io/v1beta1 have other numbers. */
void sim_wire_list_head(struct buf *out, const char *api_version, const char *kind, struct str metadata,
                        size_t len);
bool sim_wire_put_item(struct buf *out, const char *api_version, const struct schema_type *type,
                       struct str item);

/* Reads an object in its envelope. NULL with an error that says what is wrong. */
json_t *sim_wire_get(struct str bytes, struct err *err);

/* --- parts of messages (wire_put.c) */

/* Appends a field of bytes: `from` is where its value was appended. */
void sim_wire_close(struct buf *out, uint32_t number, size_t from);
