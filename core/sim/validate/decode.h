/* Bodies of Kubernetes' own kinds, decoded by the schema bundle as a server's Go types do it: values of wrong
 * types are refused, unknown fields dropped, null and empty values left out, as are zeros where Go omits
 * them. Owner: a new reference is returned; what is handed in is borrowed. May be called anywhere. */
#pragma once
#include <stdbool.h>

#include <jansson.h>

#include "schema/schema.h"

struct sim_decoding {
    bool
        keeps; /* given: lists and maps that are empty stay, for messages, and bytes of a map that are null */
    bool converts; /* given: as of the result of a strategic merge patch or an apply, which is no JSON text */
    char *error;   /* Go's message, the caller's; NULL: the value fits */
    json_t *unknown; /* array of `unknown field "spec.foo"`, the caller's; NULL: there are none */
};

/* Returns the object as it would be stored; NULL with an error. */
json_t *sim_decode(const struct schema_type *type, const json_t *object, struct sim_decoding *decoding);
