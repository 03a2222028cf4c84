/* Tokens of a text; see token.h. */
#include "object/parse/token.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "object/parse/simdjson.h"

enum {
    DIGITS_MAX = 18,
    DOUBLE_TEXT_MAX = 64,
    EXACT_DIGITS_MAX = 15, /* of an integer that a double is exactly */
};

struct token_parser {
    struct simdjson_parser *simdjson;
    uint32_t *at; /* of a text with omitted parts */
    size_t room;
};

struct token_parser *token_parser_new(void)
{
    struct token_parser *parser = NEW(struct token_parser);
    parser->simdjson = simdjson_parser_new();
    must(parser->simdjson);
    return parser;
}

void token_parser_free(struct token_parser *parser)
{
    if (!parser) return;
    simdjson_parser_free(parser->simdjson);
    free(parser->at);
    free(parser);
}

bool tokens_find(struct token_parser *parser, const char *text, size_t len, struct tokens *tokens)
{
    tokens->text = text;
    return len <= UINT32_MAX && !simdjson_tokens(parser->simdjson, text, len, &tokens->at, &tokens->count);
}

/* Appends the tokens of what stands from `from` to `to`, and room for two more. Without array.h: hot, and of
 * many tokens at once. */
static bool append_tokens(struct token_parser *parser, struct str text, size_t from, size_t to, size_t *count)
{
    const uint32_t *at;
    size_t found;
    if (to <= from || simdjson_tokens(parser->simdjson, text.p + from, to - from, &at, &found)) return false;
    if (*count + found + 2 > parser->room) {
        parser->room = (*count + found + 2) * 2;
        parser->at = xrealloc(parser->at, parser->room * sizeof *parser->at);
    }
    for (size_t i = 0; i < found; i++) parser->at[*count + i] = at[i] + (uint32_t)from;
    *count += found;
    return true;
}

bool tokens_find_around(struct token_parser *parser, struct str text, struct token_part *part, size_t parts,
                        struct tokens *tokens)
{
    size_t from = 0, count = 0;
    if (text.n > UINT32_MAX) return false;
    for (size_t i = 0; i < parts; i++) {
        if (!append_tokens(parser, text, from, part[i].from, &count)) return false;
        part[i].token = (uint32_t)count;
        parser->at[count++] = part[i].from;
        from = (size_t)part[i].from + part[i].length;
    }
    if (!append_tokens(parser, text, from, text.n, &count)) return false;
    parser->at[count] = (uint32_t)text.n;
    *tokens = (struct tokens){text.p, parser->at, count};
    return true;
}

/* Returns whether nothing but blanks stands between `p` and the next token. */
static bool ends_here(const struct tokens *t, size_t i, const char *p)
{
    const char *next = t->text + t->at[i + 1];
    for (; p < next; p++) {
        if (*p != ' ' && *p != '\n' && *p != '\t' && *p != '\r') return false;
    }
    return p == next;
}

bool token_int(const struct tokens *t, size_t i, int64_t *out)
{
    const char *p = t->text + t->at[i], *end = t->text + t->at[i + 1];
    bool negative = *p == '-';
    if (negative) p++;
    const char *digits = p;
    uint64_t n = 0;
    while (p < end && *p >= '0' && *p <= '9') {
        if (p - digits == DIGITS_MAX) return false;
        n = n * 10 + (uint64_t)(*p++ - '0');
    }
    if (p == digits || (*digits == '0' && p - digits > 1) || (negative && n == 0)) return false;
    *out = negative ? -(int64_t)n : (int64_t)n;
    return ends_here(t, i, p);
}

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9') p++;
    return p;
}

/* Returns the end of a number with a fraction or an exponent as in RFC 8259; NULL if it is not one. The text
 * has readable bytes behind it. */
static const char *double_end(const char *p)
{
    const char *digits = p += *p == '-', *fraction, *exponent;
    p = skip_digits(p);
    if (p == digits || (*digits == '0' && p - digits > 1) || (*p != '.' && *p != 'e' && *p != 'E'))
        return NULL;
    if (*p == '.') {
        p = skip_digits(fraction = p + 1);
        if (p == fraction) return NULL;
    }
    if (*p != 'e' && *p != 'E') return p;
    p += 1 + (p[1] == '+' || p[1] == '-');
    exponent = p;
    p = skip_digits(p);
    return p > exponent ? p : NULL;
}

/* Reads a number of few digits without an exponent: both parts of the quotient are exact, so it is the
 * nearest double. Returns false for others. */
static bool short_double(const char *p, const char *end, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const bool negative = *p == '-';
    const char *point = end;
    uint64_t n = 0;
    p += negative;
    if (end - p > EXACT_DIGITS_MAX + 1) return false;
    for (; p < end; p++) {
        if (*p == '.')
            point = p + 1;
        else if (*p >= '0' && *p <= '9')
            n = n * 10 + (uint64_t)(*p - '0');
        else
            return false;
    }
    *out = (double)n / powers[end - point];
    if (negative) *out = -*out;
    return true;
}

bool token_double(const struct tokens *t, size_t i, double *out)
{
    const char *p = t->text + t->at[i], *end = double_end(p);
    char copy[DOUBLE_TEXT_MAX], *parsed;
    if (!end || end > t->text + t->at[i + 1] || !ends_here(t, i, end)) return false;
    if (short_double(p, end, out)) return true;
    size_t n = (size_t)(end - p);
    if (n >= sizeof copy) return false;
    memcpy(copy, p, n);
    copy[n] = '\0';
    *out = strtod(copy, &parsed);
    return parsed == copy + n && isfinite(*out);
}

char token_atom(const struct tokens *t, size_t i)
{
    static const struct str atoms[] = {STR("true"), STR("false"), STR("null")};
    const char *p = t->text + t->at[i];
    size_t room = t->at[i + 1] - t->at[i];
    for (size_t k = 0; k < 3; k++) {
        if (room >= atoms[k].n && memcmp(p, atoms[k].p, atoms[k].n) == 0)
            return ends_here(t, i, p + atoms[k].n) ? *p : '\0';
    }
    return '\0';
}

/* Returns the 16 bits of the four hex digits at `p`; more than 16 bits if they are none. */
static uint32_t hex4(const char *p)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t digit = (uint32_t)p[i] - '0', letter = ((uint32_t)p[i] | 0x20) - 'a';
        if (digit > 9 && letter > 5) return UINT32_MAX;
        code = code << 4 | (digit <= 9 ? digit : letter + 10);
    }
    return code;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *to++ = (char)((more == 1 ? 0xc0u : more == 2 ? 0xe0u : 0xf0u) | c >> 6 * more);
    while (more-- > 0) *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return to;
}

enum { SURROGATES = 0xd800, LOW_SURROGATES = 0xdc00, AFTER_SURROGATES = 0xe000 };

/* Takes the \uXXXX at `*p`, or two that are one character. Half of one is left to the tape. */
static bool take_code(const char **p, const char *end, char **to)
{
    if (end - *p < 6) return false;
    uint32_t code = hex4(*p + 2);
    *p += 6;
    if (code > 0xffff) return false;
    if (code >= SURROGATES && code < AFTER_SURROGATES) {
        if (code >= LOW_SURROGATES || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u') return false;
        uint32_t low = hex4(*p + 2);
        *p += 6;
        if (low < LOW_SURROGATES || low >= AFTER_SURROGATES) return false;
        code = 0x10000 + ((code - SURROGATES) << 10) + (low - LOW_SURROGATES);
    }
    *to = put_utf8(*to, code);
    return true;
}

/* Takes the escape whose backslash is at `*p`. */
static bool take_escape(const char **p, const char *end, char **to)
{
    static const char meant[128] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    if (end - *p < 2 || (unsigned char)(*p)[1] >= sizeof meant) return false;
    if ((*p)[1] == 'u') return take_code(p, end, to);
    **to = meant[(unsigned char)(*p)[1]];
    *p += 2;
    return *(*to)++ != '\0';
}

bool token_unescape(struct str raw, char *out, size_t *n)
{
    const char *p = raw.p, *end = raw.p + raw.n;
    char *to = out;
    /* Writing is never ahead of reading, so there is room for eight bytes at once. */
    while (end - p >= 8) {
        uint64_t marks = backslashes(p);
        size_t plain = marks ? (size_t)__builtin_ctzll(marks) / 8 : 8;
        memcpy(to, p, 8);
        p += plain;
        to += plain;
        if (marks && !take_escape(&p, end, &to)) return false;
    }
    while (p < end) {
        if (*p != '\\')
            *to++ = *p++;
        else if (!take_escape(&p, end, &to))
            return false;
    }
    *n = (size_t)(to - out);
    return true;
}

bool token_unescape_name(struct str raw, char *out, size_t *n)
{
    return token_unescape(raw, out, n) && !str_has_nul((struct str){out, *n});
}

bool token_escapes_known(struct str text)
{
    const char *p = text.p, *end = text.p + text.n;
    while (p < end && (p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
        char unused[4], *to = unused;
        if (!take_escape(&p, end, &to)) return false;
    }
    return true;
}

/* --- One stack over all tokens */

/* Clears entries of `close` that belong to other tokens. */
static void leave_open(const struct tokens *t, size_t from, uint32_t *close)
{
    memset(close + from, 0, (t->count - from) * sizeof *close);
}

void token_match(const struct tokens *t, size_t from, uint32_t *close)
{
    uint32_t open[TOKEN_MATCH_DEPTH];
    size_t depth = 0;
    for (size_t i = from; i < t->count; i++) {
        char c = t->text[t->at[i]];
        char folded = c | 0x20; /* '[' | 0x20 is '{', ']' | 0x20 is '}' */
        if (folded != '{' && folded != '}') continue;
        if (folded == '{') {
            if (depth == TOKEN_MATCH_DEPTH) {
                leave_open(t, i, close);
                return;
            }
            close[i] = 0;
            open[depth++] = (uint32_t)i;
        } else if (depth > 0) {
            uint32_t opened = open[--depth];
            if (t->text[t->at[opened]] + 2 != c) {
                leave_open(t, i, close);
                return;
            }
            close[opened] = (uint32_t)i;
        }
    }
}
