/* A growing run of bytes; see buf.h. */
#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

char *buf_reserve(struct buf *b, size_t more)
{
    size_t need = b->len + more;
    must(need >= b->len);
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need) cap *= 2;
        b->data = xrealloc(b->data, cap);
        b->cap = cap;
    }
    return b->data + b->len;
}

void buf_append(struct buf *b, const void *data, size_t len)
{
    if (len == 0) return;
    memcpy(buf_reserve(b, len), data, len);
    b->len += len;
}

void buf_str(struct buf *b, struct str s)
{
    buf_append(b, s.p, s.n);
}

void buf_puts(struct buf *b, const char *text)
{
    buf_append(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
    *buf_reserve(b, 1) = c;
    b->len++;
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    must(need >= 0);
    vsnprintf(buf_reserve(b, (size_t)need + 1), (size_t)need + 1, format, again);
    va_end(again);
    b->len += (size_t)need;
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

static void escape(struct buf *b, unsigned char c)
{
    switch (c) {
    case '"': buf_puts(b, "\\\""); break;
    case '\\': buf_puts(b, "\\\\"); break;
    case '\n': buf_puts(b, "\\n"); break;
    case '\r': buf_puts(b, "\\r"); break;
    case '\t': buf_puts(b, "\\t"); break;
    default: buf_printf(b, "\\u%04x", c);
    }
}

void buf_json_string(struct buf *b, struct str s)
{
    size_t plain = 0; /* start of the stretch that needs no escape */
    buf_putc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        buf_append(b, s.p + plain, i - plain);
        escape(b, c);
        plain = i + 1;
    }
    buf_append(b, s.p + plain, s.n - plain);
    buf_putc(b, '"');
}

/* Bytes of the UTF-8 character at `p`, 0 when it is none (RFC 3629: no overlong forms, no surrogates). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80) return 1;
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || left < n) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool beyond = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || beyond ? 0 : n;
}

void buf_json_lossy(struct buf *b, struct str s)
{
    struct buf clean = {0};
    for (size_t i = 0; i < s.n;) {
        size_t n = utf8_length((const unsigned char *)s.p + i, s.n - i);
        if (n)
            buf_append(&clean, s.p + i, n);
        else
            buf_puts(&clean, "\xef\xbf\xbd");
        i += n ? n : 1;
    }
    buf_json_string(b, buf_slice(&clean));
    buf_clear(&clean);
}

void buf_consume(struct buf *b, size_t len)
{
    must(len <= b->len);
    b->len -= len;
    if (b->len) memmove(b->data, b->data + len, b->len);
}

const char *buf_text(struct buf *b)
{
    *buf_reserve(b, 1) = '\0';
    return b->data;
}

char *buf_take(struct buf *b)
{
    buf_text(b);
    char *text = b->data;
    *b = (struct buf){0};
    return text;
}

void buf_clear(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}
