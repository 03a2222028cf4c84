/* Keys of a bucket; see bucket_key.h. */
#include "engine/bucket/bucket_key.h"

#include <ctype.h>

static void put_token(struct str text, struct buf *out)
{
    buf_putc(out, '.');
    if (text.n == 0) buf_putc(out, '_');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        /* "_" alone would be the token for nothing. */
        if (isalnum(c) || c == '-' || (c == '_' && text.n > 1))
            buf_putc(out, (char)c);
        else
            buf_printf(out, "=%02X", c);
    }
}

static void put_kind(const struct resource *resource, struct buf *out)
{
    buf_puts(out, "objects");
    put_token(str_of(resource->group), out);
    put_token(str_of(resource->version), out);
    put_token(str_of(resource->plural), out);
}

void bucket_key(const struct resource *resource, struct str ns, struct str name, struct buf *out)
{
    put_kind(resource, out);
    put_token(ns, out);
    put_token(name, out);
}

static void put_wanted(struct str text, struct buf *out)
{
    if (text.n > 0)
        put_token(text, out);
    else
        buf_puts(out, ".*");
}

void bucket_filter(const struct resource *resource, struct str ns, struct str name, struct buf *out)
{
    put_kind(resource, out);
    put_wanted(ns, out);
    put_wanted(name, out);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_token(struct str token, struct buf *out)
{
    out->len = 0;
    if (str_is(token, "_")) return true;
    for (size_t i = 0; i < token.n; i++) {
        char c = token.p[i];
        if (c == '=') {
            int high = i + 2 < token.n ? digit(token.p[i + 1]) : -1;
            int low = i + 2 < token.n ? digit(token.p[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        buf_putc(out, c);
    }
    return token.n > 0;
}

bool bucket_key_read(struct str key, struct buf *ns, struct buf *name)
{
    enum { TOKENS = 6 };
    struct str tokens[TOKENS];
    size_t count = 0, from = 0;
    for (size_t i = 0; i <= key.n; i++) {
        if (i < key.n && key.p[i] != '.') continue;
        if (count == TOKENS) return false;
        tokens[count++] = (struct str){key.p + from, i - from};
        from = i + 1;
    }
    return count == TOKENS && str_is(tokens[0], "objects") && read_token(tokens[4], ns) &&
           read_token(tokens[5], name) && name->len > 0;
}
