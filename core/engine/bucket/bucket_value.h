/* Values of a bucket that exceed its largest message: they are written in an encoding that takes less room.
 * Owner: the caller's buffer. Any thread. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

#define BUCKET_ZSTD "zstd"

/* Appends the value as one frame of zstd. */
void bucket_value_encode(struct str value, struct buf *out);
/* Returns the value as it was, in `out` unless it has no encoding (""). Returns a str without bytes and sets
 * err if the encoding is unknown, the value is damaged, or larger than `max`. */
struct str bucket_value_decode(struct str value, const char *encoding, size_t max, struct buf *out,
                               struct err *err);
