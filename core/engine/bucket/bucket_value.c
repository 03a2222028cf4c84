/* Values of a bucket; see bucket_value.h. */
#include "engine/bucket/bucket_value.h"

#include <string.h>
#include <zstd.h>

#include "base/must.h"
#include "object/parse/json_scan.h"

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

bool bucket_value_is_object(struct str value)
{
    struct json_scan scan = {0};
    const char *end = value.p + value.n;
    return value.n > 0 && *value.p == '{' && json_scan(&scan, value.p, end) == end;
}

static void put_head(const struct bucket_line *line, struct buf *out)
{
    buf_printf(out, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{", line->api_version, line->kind);
    if (line->ns.n > 0) {
        buf_puts(out, "\"namespace\":");
        buf_json_string(out, line->ns);
        buf_putc(out, ',');
    }
    buf_puts(out, "\"name\":");
    buf_json_string(out, line->name);
    buf_puts(out, "}}");
}

void bucket_value_put_line(const struct bucket_line *line, struct buf *out)
{
    buf_printf(out, "{\"type\":\"%s\",\"object\":", line->type);
    if (line->value.n > 0)
        buf_str(out, line->value);
    else
        put_head(line, out);
    buf_puts(out, "}\n");
}
