/* Findings of decoding a body, and their places; see decode.h. Owner: the decoder, on its caller's stack,
 * owns the messages. */
#pragma once
#include <stdbool.h>

#include <jansson.h>

#include "schema/schema.h"

/* Where a value is: the innermost comes first. */
struct place {
    const struct place *above;
    const char *key; /* of a map or of an object; NULL: an index of a list */
    size_t index;
    const struct schema_type *in; /* the type that has the field; NULL: no field of a type */
    const char *inlined;          /* Go's name of the struct within it that has the field; may be NULL */
};

struct field_decoder {
    char *error;
    bool over; /* of an error after which Go reads no further */
    json_t *unknown;
    int unchecked; /* within a type that decodes itself, and tells nothing of unknown fields */
    bool keeps;    /* what is empty */
    bool converts; /* as apimachinery's converter of maps does, not as encoding/json */
};

/* Takes the message. Of several, the first counts, unless one ends the decoding. */
void sim_decode_fail(struct field_decoder *d, char *message, bool over);
/* Reports a value of another type than `wanted`, Go's name of it. `kind` is Go's word for such types,
 * "struct", "slice", "map", "int32", ...; NULL of those that decode themselves. */
void sim_decode_wrong(struct field_decoder *d, const struct place *at, const json_t *value,
                      const char *wanted, const char *kind, bool over);
void sim_decode_unknown(struct field_decoder *d, const struct place *at, const char *key);
/* Returns Go's name of what a field holds or, if `one`, of one of its values; the caller's. */
char *sim_decode_go_type(const struct schema_field *field, bool one);
/* "PodSpec" of "core/v1.PodSpec" */
const char *sim_decode_unqualified(const char *name);
