/* Tokens of JSON text, by simdjson's first stage, and reading single ones. The strings of tokens borrow from
 * the text. Owner: a token_parser belongs to one thread; tokens borrow from it and from the text, until the
 * next call. Tokens promise UTF-8 and that strings have ends, and nothing else: walks must detect text that
 * is not JSON. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct tokens {
    const char *text;
    const uint32_t *at; /* places in the text; one more than there are tokens, the length */
    size_t count;
};

/* Part of a text that need not be read: it counts as one token. */
struct token_part {
    uint32_t from, length; /* bytes */
    uint32_t token;        /* its number among the tokens, set by tokens_find_around */
};

struct token_parser;

struct token_parser *token_parser_new(void);
void token_parser_free(struct token_parser *parser);
/* Finds the tokens; returns false if the text is not JSON. It has TAPE_PADDING bytes behind `len`. */
bool tokens_find(struct token_parser *parser, const char *text, size_t len, struct tokens *tokens);
/* Likewise without some parts of the text, which are separate, in order, and not at its ends. */
bool tokens_find_around(struct token_parser *parser, struct str text, struct token_part *part, size_t parts,
                        struct tokens *tokens);

/* Returns the first byte of a token, 0 after the last. */
static inline char token_type(const struct tokens *t, size_t i)
{
    return i < t->count ? t->text[t->at[i]] : '\0';
}

/* Marks backslashes among eight bytes, as they are in memory: the lowest set bit is in the first one. */
static inline uint64_t backslashes(const char *p)
{
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    uint64_t v;
    memcpy(&v, p, sizeof v);
    v ^= ones * '\\';
    return (v - ones) & ~v & high; /* only the lowest set bit is exact */
}

/* Returns whether one of `n` bytes is a backslash. Reads up to seven bytes further. */
static inline bool has_backslash(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t marks = backslashes(p + i);
        if (marks) return i + (size_t)__builtin_ctzll(marks) / 8 < n;
    }
    return false;
}

/* Returns the bytes between the quotes of token `i`, which begins with one. */
static inline struct str token_raw(const struct tokens *t, size_t i)
{
    const char *p = t->text + t->at[i] + 1, *end = t->text + t->at[i + 1];
    while (end > p && end[-1] != '"') end--; /* blanks before the next token */
    return (struct str){p, end > p ? (size_t)(end - p) - 1 : 0};
}

/* Reads an integer of at most 18 digits; returns false for other numbers and other tokens. */
bool token_int(const struct tokens *t, size_t i, int64_t *out);
/* Reads a number with a fraction or an exponent, rounded to the nearest; returns false for other numbers and
 * out of range. */
bool token_double(const struct tokens *t, size_t i, double *out);
/* true, false, null: simdjson's letter; 0 for what is none of them. */
char token_atom(const struct tokens *t, size_t i);
/* Puts a string with escapes as it is meant into `out`, which has room for `raw.n` bytes; false when one of
 * them is none, or is half a character (\ud83d alone): the tape decides about it. */
bool token_unescape(struct str raw, char *out, size_t *n);
/* Likewise for the name of a field that is searched for, which has no NUL. */
bool token_unescape_name(struct str raw, char *out, size_t *n);
/* Returns whether token_unescape could do that with each string of `text`, whose backslashes are all in
 * strings. Reads up to seven bytes further. */
bool token_escapes_known(struct str text);

/* --- Matching brackets among tokens: so that a value can be stepped over in one step, without reading what
 * stands in it. Owner: the caller's memory. May be called anywhere. */

enum { TOKEN_MATCH_DEPTH = 1024 }; /* brackets within one another */

/* For each opening bracket among the tokens from `from` on: `close[i]` is the token that closes token `i`, or
 * 0 where that is not among them. Other places of `close`, which has one for each token, are of no
 * meaning. Ends at a bracket that closes another kind, and at what is nested too deep: what is around it, and
 * all behind it, stays open. */
void token_match(const struct tokens *t, size_t from, uint32_t *close);

/* Returns the token after the value at `i`; 0 if it is not a value, or has no end. */
static inline size_t token_behind(const struct tokens *t, const uint32_t *close, size_t i)
{
    switch (token_type(t, i)) {
    case '{':
    case '[': return close[i] ? close[i] + 1 : 0;
    case '}':
    case ']':
    case ',':
    case ':':
    case '\0': return 0;
    default: return i + 1;
    }
}
