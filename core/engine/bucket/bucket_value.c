/* Encoded values; see bucket_value.h. */
#include "engine/bucket/bucket_value.h"

#include <string.h>
#include <zstd.h>

#include "base/must.h"

enum { LEVEL = 3 };

void bucket_value_encode(struct str value, struct buf *out)
{
    size_t room = ZSTD_compressBound(value.n);
    size_t n = ZSTD_compress(buf_reserve(out, room), room, value.p, value.n, LEVEL);
    must(!ZSTD_isError(n));
    out->len += n;
}

/* The size that the frame tells is anybody's: the room is bounded before. */
static bool unpack(struct str value, size_t max, struct buf *out, struct err *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(value.p, value.n);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
        return err_set(err, ERR_PARSE, "the value in the bucket is not one frame of zstd");
    if (size > max) return err_set(err, ERR_PARSE, "the value in the bucket exceeds %zu bytes unpacked", max);
    out->len = 0;
    size_t n = ZSTD_decompress(buf_reserve(out, (size_t)size), (size_t)size, value.p, value.n);
    if (ZSTD_isError(n))
        return err_set(err, ERR_PARSE, "the value in the bucket is damaged: %s", ZSTD_getErrorName(n));
    out->len = n;
    return true;
}

struct str bucket_value_decode(struct str value, const char *encoding, size_t max, struct buf *out,
                               struct err *err)
{
    if (!*encoding) return value;
    if (strcmp(encoding, BUCKET_ZSTD) == 0)
        return unpack(value, max, out, err) ? buf_slice(out) : (struct str){0};
    err_set(err, ERR_PARSE, "the value in the bucket has the encoding \"%s\", which is unknown here",
            encoding);
    return (struct str){0};
}
