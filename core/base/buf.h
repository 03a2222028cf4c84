/* Growing buffer of bytes. Owner: the holder of the struct; buf_clear frees the bytes. A zeroed one is empty
 * and valid. May be called anywhere; not shared between threads. */
#pragma once
#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

struct buf {
    char *data; /* not terminated, except after buf_text */
    size_t len, cap;
};

/* Room for `more` bytes behind `len`; returns the place of the first. `len` stays. */
char *buf_reserve(struct buf *b, size_t more);
void buf_append(struct buf *b, const void *data, size_t len);
void buf_str(struct buf *b, struct str s);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
/* Cuts the text behind `from` to at most `most` bytes, not inside a character, and puts "..." where it was
 * longer. */
void buf_shorten(struct buf *b, size_t from, size_t most);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Appends `s` as a quoted JSON string. Bytes that are no UTF-8 become U+FFFD. */
void buf_json_string(struct buf *b, struct str s);
/* Drops `len` bytes at the front. */
void buf_consume(struct buf *b, size_t len);
/* Returns the content, terminated by a NUL that does not count; borrowed until the next change. */
const char *buf_text(struct buf *b);
/* Returns the content, terminated; the caller frees it, and `b` is empty afterwards. */
char *buf_take(struct buf *b);
/* Frees the bytes; `b` is empty and usable again. */
void buf_clear(struct buf *b);
/* Likewise for secrets: overwrites the content with zeros. Reserve the complete size before filling it, as
 * growing leaves a copy behind. */
void buf_wipe(struct buf *b);

static inline struct str buf_slice(const struct buf *b)
{
    return (struct str){b->data, b->len};
}
