/* Tokens of a text; see token.h. */
#include "object/parse/token.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "object/parse/simdjson.h"

enum { DIGITS_MAX = 18, DOUBLE_TEXT_MAX = 64 };

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

bool token_double(const struct tokens *t, size_t i, double *out)
{
    const char *p = t->text + t->at[i], *end = double_end(p);
    char copy[DOUBLE_TEXT_MAX], *parsed;
    if (!end || end > t->text + t->at[i + 1] || !ends_here(t, i, end)) return false;
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

/* Returns the character of ASCII that stands as \u0069 at `p`, or NUL. */
static char code_here(const char *p, const char *end)
{
    if (end - p < 6 || memcmp(p, "\\u00", 4) != 0) return '\0';
    const char digits[] = {p[4], p[5], '\0'};
    bool is_code = isxdigit((unsigned char)p[4]) && isxdigit((unsigned char)p[5]);
    long code = is_code ? strtol(digits, NULL, 16) : 0;
    return code < 128 ? (char)code : '\0';
}

static bool unescape(struct str raw, bool codes, char *out, size_t *n)
{
    static const char meant[128] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    const char *p = raw.p, *end = raw.p + raw.n;
    char *to = out;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((slash ? slash : end) - p);
        memcpy(to, p, plain);
        to += plain;
        p += plain;
        if (!slash) break;
        if (end - p < 2 || (unsigned char)p[1] >= sizeof meant) return false;
        bool is_code = codes && p[1] == 'u';
        *to = is_code ? code_here(p, end) : meant[(unsigned char)p[1]];
        if (!*to++) return false;
        p += is_code ? 6 : 2;
    }
    *n = (size_t)(to - out);
    return true;
}

bool token_unescape(struct str raw, char *out, size_t *n)
{
    return unescape(raw, false, out, n);
}

bool token_unescape_name(struct str raw, char *out, size_t *n)
{
    return unescape(raw, true, out, n);
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
