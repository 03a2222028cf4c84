/* Scalars of YAML as JSON; see yaml_scalar.h. */
#include "base/yaml/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/yaml/yaml_value.h"

enum { NUMBER_MAX = 64 };
/* Above it a double has no fraction, and JSON could take it for a whole number. */
#define INTEGER_MAX 0x1p53

static bool is_among(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0) return true;
    return false;
}

/* Returns null, true or false for the words that mean them; NULL for other texts. */
static const char *word_of(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL},
                             *const trues[] = {"true", "True", "TRUE", "yes", "Yes", "YES",
                                               "on",   "On",   "ON",   "y",   "Y",   NULL},
                             *const falses[] = {"false", "False", "FALSE", "no", "No", "NO",
                                                "off",   "Off",   "OFF",   "n",  "N",  NULL};
    if (is_among(text, nulls)) return "null";
    if (is_among(text, trues)) return "true";
    return is_among(text, falses) ? "false" : NULL;
}

/* Returns the base by the prefix, and skips that. */
static int base_of(const char **digits)
{
    static const struct {
        char letter;
        int base;
    } bases[] = {{'x', 16}, {'X', 16}, {'o', 8}, {'O', 8}, {'b', 2}, {'B', 2}};
    const char *p = *digits;
    if (*p != '0' || !p[1]) return 10;
    for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
        if (p[1] != bases[i].letter) continue;
        *digits += 2;
        return bases[i].base;
    }
    return 8;
}

/* Appends an integer of 64 bits; returns false if the text is none. */
static bool put_integer(struct buf *out, const char *text)
{
    bool negative = *text == '-';
    const char *digits = text + (*text == '-' || *text == '+');
    char *end;
    int base = base_of(&digits);
    if (!strchr("0123456789abcdefABCDEF", *digits) || !*digits) return false;
    errno = 0;
    unsigned long long n = strtoull(digits, &end, base);
    if (errno || *end || (base == 16 && (digits[1] | 0x20) == 'x') ||
        (negative && n > (uint64_t)INT64_MAX + 1))
        return false;
    buf_printf(out, "%s%llu", negative && n ? "-" : "", n);
    return true;
}

/* Appends a number with a point, an exponent or too many digits for an integer; returns false if the text is
 * none. */
static bool put_fraction(struct buf *out, const char *text, bool stays)
{
    const char *p = text + (*text == '-' || *text == '+');
    size_t whole = strspn(p, "0123456789"), part = 0;
    char *end;
    p += whole;
    if (*p == '.') {
        part = strspn(p + 1, "0123456789");
        p += 1 + part;
    }
    if (!whole && !part) return false;
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        if (!*p) return false;
        p += strspn(p, "0123456789");
    }
    if (*p) return false;
    double d = strtod(text, &end);
    if (*end || !isfinite(d)) return false;
    size_t from = out->len;
    buf_printf(out, "%.17g", d);
    if (stays && fabs(d) > INTEGER_MAX && !memchr(out->data + from, 'e', out->len - from))
        buf_puts(out, ".0");
    return true;
}

static bool put_number(struct buf *out, struct str text, bool fractions_stay)
{
    char plain[NUMBER_MAX];
    size_t n = 0;
    if (text.n >= sizeof plain || !strchr("+-.0123456789", *text.p)) return false;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '_') plain[n++] = text.p[i];
    plain[n] = '\0';
    return put_integer(out, plain) || put_fraction(out, plain, fractions_stay);
}

void yaml_put_scalar(struct buf *out, const yaml_event_t *event, bool fractions_stay, bool is_key)
{
    struct str text = yaml_event_text(event);
    const char *tag = (const char *)event->data.scalar.tag, *word;
    bool is_text = is_key || event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
                   (tag && strcmp(tag, YAML_STR_TAG) == 0) || strlen(text.p) != text.n;
    if (!is_text && (word = word_of(text.p)))
        buf_puts(out, word);
    else if (is_text || !put_number(out, text, fractions_stay))
        buf_json_string(out, text);
}
