/* Stored object: compact JSON text without kind and apiVersion, as items of a list are, and the values that
 * selectors need. Owner: counted references, which are taken and released under the store's lock only;
 * everything else in it is constant once it is stored. A new one belongs to its creator until the store takes
 * it. */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

#include <jansson.h>

#include "base/str.h"
#include "sim/object/selector.h"

/* Number of digits of the store's versions, so that they can be written into a finished text. */
enum { SIM_VERSION_DIGITS = 16 };

struct sim_span {
    uint32_t at, len;
};

struct sim_object {
    uint32_t refs;
    /* Bytes of its message in protobuf, and of that of its metadata alone; 0: nobody knows yet. Written by
     * whoever finds them out, on any thread. */
    atomic_uint wire_sizes[2];
    uint32_t len; /* of the text */
    uint64_t version;
    const char *key; /* "namespace/name", or "name" */
    uint32_t namespace_len;
    const char *phase, *node;                       /* status.phase and spec.nodeName, "" when missing */
    struct sim_span metadata, labels, version_text; /* labels.len is 0 when there are none */
    bool unsettled; /* gets a new version by an update that changes nothing, too */
    char *text;
};

/* Creates an object from valid and compact text; copied. NULL if it has no metadata.name. */
struct sim_object *sim_object_from_text(struct str text);
/* Creates an object from a complete one; kind and apiVersion are omitted, metadata comes first. NULL if it
 * has no metadata.name. */
struct sim_object *sim_object_from_json(const json_t *object);
/* The same for an object that is never stored, and thus has no version. */
struct sim_object *sim_object_tried(const json_t *object);
/* Returns the object with room for a new version, and with the string `was` (borrowed from its text) replaced
 * by `now`, of equal length; an empty `was` replaces nothing. */
struct sim_object *sim_object_renew(const struct sim_object *object, struct str was, struct str now);
/* Writes the version into the text; it has SIM_VERSION_DIGITS digits there. */
void sim_object_set_version(struct sim_object *object, uint64_t version);
bool sim_object_has_room(const struct sim_object *object);

struct sim_object *sim_object_ref(struct sim_object *object);
void sim_object_unref(struct sim_object *object);

/* Parsed, with `kind` and `api_version` first. A new reference. */
json_t *sim_object_json(const struct sim_object *object, const char *kind, const char *api_version);
const char *sim_object_name(const struct sim_object *object);
static inline struct str sim_object_slice(const struct sim_object *object, struct sim_span span)
{
    return (struct str){object->text + span.at, span.len};
}

/* Both selectors may be NULL. */
bool sim_object_matches(const struct sim_object *object, const struct sim_selector *labels,
                        const struct sim_selector *fields);
