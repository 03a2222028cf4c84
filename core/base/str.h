/* Borrowed bytes: pointer and length, not terminated, never owned. Owner: the owner of the bytes. May be used
 * anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
/* For printf's "%.*s". */
#define STR_ARG(s)   (int)(s).n, (s).p

static inline struct str str_of(const char *text)
{
    return (struct str){text, text ? strlen(text) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *text)
{
    return str_eq(a, str_of(text));
}

/* Returns NULL also for an empty string. */
static inline const char *nonempty(const char *text)
{
    return text && *text ? text : NULL;
}

/* Byte-wise order: negative, 0 or positive; a prefix comes first. */
int str_cmp(struct str a, struct str b);
/* Likewise, with decimal numbers in the order of numbers: "c2" before "c10". */
int str_cmp_natural(struct str a, struct str b);
bool str_starts(struct str a, struct str prefix);
bool str_ends(struct str a, struct str suffix);
/* Returns it without blanks (space, tab, CR, LF) at both ends. */
struct str str_trim(struct str a);
/* Returns whether it contains a NUL, at which a C string would end. */
static inline bool str_has_nul(struct str s)
{
    return s.n && memchr(s.p, '\0', s.n);
}
/* Cuts `*rest` at the first `sep`: sets the part before it and moves `*rest` behind it. The last part leaves
 * `rest->p` NULL; returns false once `rest->p` is NULL. */
bool str_cut(struct str *rest, char sep, struct str *part);
/* Returns the number of bytes of the UTF-8 character at the beginning; 0 if there is none. */
size_t str_utf8(struct str a);
/* Returns the first character, and its length in bytes in `n`; U+FFFD and 1 if it is invalid. Not for an
 * empty string. */
uint32_t str_code_point(struct str a, size_t *n);
/* Returns whether the character ends a line, turns its direction, or is invisible: in a foreign text it may
 * make a terminal or a reader take the rest for something else. */
bool str_is_deceptive(uint32_t c);
/* Reads a number: decimal digits only, the complete slice, no sign; returns false if it is empty, malformed
 * or above UINT64_MAX. */
bool str_to_u64(struct str a, uint64_t *out);
