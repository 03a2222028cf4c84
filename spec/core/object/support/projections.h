/* Projections for the specs of core/object, and random objects of few keys, so that paths meet them. Owner:
 * the test. */
#pragma once
#include "core/object/support/objects.h"
#include "object/pack/projection.h"

/* Fails the test if a path is none. */
struct projection *projection_of(const char *const *fields, size_t count, const char *const *prune,
                                 size_t prune_count);
/* NULL now and then: everything. */
struct projection *random_projection(struct random *r);
void projected_object(struct random *r, struct buf *out);

/* By pack_tape; NULL where the text is no object. A new reference. */
struct root *by_tape_as(struct packer *packer, struct str text, const struct projection *projection,
                        bool always);
/* By pack_tokens, and remembered; NULL where that leaves the text to the tape. A new reference. */
struct root *straight_as(struct packer *packer, struct str text, const struct projection *projection);
