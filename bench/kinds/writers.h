/* Members of one object of a kind behind kind and apiVersion, and its last brace; see texts.h. `i` is the
 * number of the object, `state` that of the state. Owner: stateless. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { KIND_VERSION = 1000000000 }; /* of the first state, with as many digits as those of pods */

/* A number that looks random, the same for the same two. */
uint64_t kind_random(uint64_t seed, uint64_t number);
/* The version of an object in a state. */
uint64_t kind_version(size_t i, size_t state);
/* metadata of a built-in kind, without labels and annotations. */
void write_metadata(struct buf *out, const char *name, size_t i, size_t state);
/* An entry of managedFields, with a comma before it unless it is the first. */
void write_manager(struct buf *out, bool first, const char *manager, const char *subresource, size_t state,
                   const char *fields);

void write_deployment(struct buf *out, size_t i, size_t state);
void write_node(struct buf *out, size_t i, size_t state);
void write_endpoints(struct buf *out, size_t i, size_t state);
void write_event(struct buf *out, size_t i, size_t state);
void write_lease(struct buf *out, size_t i, size_t state);

void write_large(struct buf *out, size_t i, size_t state);
void write_keys(struct buf *out, size_t i, size_t state);
void write_labels(struct buf *out, size_t i, size_t state);
void write_random_keys(struct buf *out, size_t i, size_t state);
void write_numbers(struct buf *out, size_t i, size_t state);
void write_deep(struct buf *out, size_t i, size_t state);
void write_escapes(struct buf *out, size_t i, size_t state);
void write_secret(struct buf *out, size_t i, size_t state);
