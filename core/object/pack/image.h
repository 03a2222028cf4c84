/* Image of a pool: objects as they are in memory, with the keys and shapes that they name, for a file that a
 * later process reads instead of packing the same objects again (docs/dev/adr/0006-warm-start.md). References
 * inside a pool are distances in its region, so they hold in any other region. An image holds what its
 * objects need and nothing else: no bytes of freed objects, none of objects that were left out.
 * Owner: the caller. Saving only reads: from a forked child, or from any thread that holds references to the
 * objects while nothing is packed. Loading is for the start, before any other pool is made. */
#pragma once
#include <stddef.h>

#include "base/checked_file.h"
#include "base/err.h"
#include "object/pack/pool.h"

/* Changes with the layout of anything in an image: words, blobs, nodes, roots, hashes. */
enum { IMAGE_FORMAT = 3 };

/* Objects that belong together, in order. */
struct image_group {
    struct root **objects;
    size_t count;
};

/* Writes the groups, whose objects are all of `pool`. */
void image_save(const struct pool *pool, const struct image_group *groups, size_t count,
                struct checked_out *out);

struct image;

/* Reads an image of so many groups; nothing of it may be used yet. NULL when the file is too short for what
 * it says; checked_in_end tells. */
struct image *image_read(struct checked_in *in, size_t groups);
/* After checked_in_end: makes the keys, the shapes and the pool that the image has. Each object has one
 * reference for each group that has it. Takes the image. NULL with ERR_LIMIT, or with ERR_OUTDATED when this
 * process has other keys already. Sets `groups`, whose arrays the caller frees. */
struct pool *image_restore(struct image *image, const struct pool_options *options,
                           struct image_group *groups, struct err *err);
/* Frees an image that is not restored. NULL is allowed. */
void image_free(struct image *image);
