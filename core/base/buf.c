/* Growing buffer of bytes; see buf.h. */
#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void buf_shorten(struct buf *b, size_t from, size_t most)
{
    size_t end = from + most;
    if (b->len <= end) return;
    while (end > from && ((unsigned char)b->data[end] & 0xc0) == 0x80) end--;
    b->len = end;
    buf_puts(b, "...");
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
        size_t utf8 = c < 0x80 ? 1 : str_utf8((struct str){s.p + i, s.n - i});
        if (c >= 0x20 && c != '"' && c != '\\' && utf8) {
            i += utf8 - 1;
            continue;
        }
        buf_append(b, s.p + plain, i - plain);
        if (utf8)
            escape(b, c);
        else
            buf_puts(b, "\\ufffd");
        plain = i + 1;
    }
    buf_append(b, s.p + plain, s.n - plain);
    buf_putc(b, '"');
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

void buf_wipe(struct buf *b)
{
    if (b->data) explicit_bzero(b->data, b->cap);
    buf_clear(b);
}
