/* Values of a bucket: those that exceed its largest message are written in an encoding that takes less room,
 * and those that are read become lines of a watch. Owner: the caller's buffer. Any thread. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define BUCKET_ZSTD "zstd"

/* Appends the value as one frame of zstd. */
void bucket_value_encode(struct str value, struct buf *out);
/* Returns the value as it was, in `out` unless it has no encoding (""). Returns a str without bytes and sets
 * err if the encoding is unknown, the value is damaged, or larger than `max`. */
struct str bucket_value_decode(struct str value, const char *encoding, size_t max, struct buf *out,
                               struct err *err);

/* Returns whether it is one object, as far as brackets and strings tell: a value without an end would swallow
 * those behind it. */
bool bucket_value_is_object(struct str value);
struct bucket_line {
    const char *type, *api_version, *kind;
    struct str ns, name, value; /* an empty value: of the object only this is known */
};
/* Appends a line of a watch. */
void bucket_value_put_line(const struct bucket_line *line, struct buf *out);
