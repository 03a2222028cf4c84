/* Exact quantities; see quantity.h. Parsing accepts just what apimachinery's resource.ParseQuantity accepts.
 */
#include "object/value/quantity.h"

#include <string.h>

enum { NANO_DIGITS = 9, BINARY_STEPS = 6, EXA = 18 };

typedef __int128 wide;
typedef unsigned __int128 uwide;

#define NANOS      ((wide)1000000000)
#define BINARY_MAX ((wide)INT64_MAX * NANOS) /* where apimachinery caps binary quantities */

struct suffix {
    enum quantity_format format;
    int64_t exponent; /* of 10, or of 2 */
};

static bool malformed(struct err *err, struct str text, const char *what)
{
    return err_set(err, ERR_INVALID, "quantity \"%.*s\": %s", STR_ARG(text), what);
}

static bool too_large(struct err *err, struct str text)
{
    return err_set(err, ERR_LIMIT, "quantity \"%.*s\" out of range", STR_ARG(text));
}

/* Takes characters of `set` off the front. */
static struct str take_span(struct str *rest, const char *set)
{
    struct str span = {rest->p, 0};
    while (span.n < rest->n && rest->p[span.n] != '\0' && strchr(set, rest->p[span.n])) span.n++;
    *rest = (struct str){rest->p + span.n, rest->n - span.n};
    return span;
}

static bool take_one(struct str *rest, char c)
{
    if (rest->n == 0 || rest->p[0] != c) return false;
    *rest = (struct str){rest->p + 1, rest->n - 1};
    return true;
}

static bool exponent_suffix(struct str s, struct suffix *out)
{
    if (s.n < 2 || (s.p[0] != 'e' && s.p[0] != 'E')) return false;
    struct str digits = {s.p + 1, s.n - 1};
    bool negative = take_one(&digits, '-');
    uint64_t n;
    if (!negative) take_one(&digits, '+');
    if (!str_to_u64(digits, &n) || n > INT32_MAX) return false;
    *out = (struct suffix){QUANTITY_DECIMAL_EXPONENT, negative ? -(int64_t)n : (int64_t)n};
    return true;
}

static bool read_suffix(struct str s, struct suffix *out)
{
    static const char decimal[] = "num kMGTPE"; /* 10^-9, 10^-6, ... */
    static const char binary[] = "KMGTPE";      /* 2^10, 2^20, ... */
    const char *at;
    if (s.n == 0) {
        *out = (struct suffix){QUANTITY_DECIMAL_SI, 0};
    } else if (s.n == 1 && (at = strchr(decimal, s.p[0])) != NULL) {
        *out = (struct suffix){QUANTITY_DECIMAL_SI, 3 * (at - decimal) - NANO_DIGITS};
    } else if (s.n == 2 && s.p[1] == 'i' && (at = strchr(binary, s.p[0])) != NULL) {
        *out = (struct suffix){QUANTITY_BINARY_SI, 10 * (at - binary + 1)};
    } else {
        return exponent_suffix(s, out);
    }
    return true;
}

static bool times_ten(wide *n)
{
    return !__builtin_mul_overflow(*n, (wide)10, n);
}

static bool add_digits(struct str digits, wide *n)
{
    for (size_t i = 0; i < digits.n; i++) {
        if (!times_ten(n) || __builtin_add_overflow(*n, (wide)(digits.p[i] - '0'), n)) return false;
    }
    return true;
}

/* n * 10^exponent, what does not divide rounded up. */
static bool scale(wide *n, int64_t exponent)
{
    bool rest = false;
    if (*n == 0) return true;
    for (; exponent > 0; exponent--) {
        if (!times_ten(n)) return false;
    }
    for (; exponent < 0 && *n > 0; exponent++) {
        rest |= *n % 10 != 0;
        *n /= 10;
    }
    *n += rest;
    return true;
}

/* Computes the number without sign, in nano units. */
static bool compose(struct str whole, struct str fraction, const struct suffix *suffix, wide *n)
{
    bool binary = suffix->format == QUANTITY_BINARY_SI;
    *n = 0;
    bool fits = add_digits(whole, n);
    if (binary && (!fits || *n > INT64_MAX >> suffix->exponent)) {
        *n = BINARY_MAX;
        return true;
    }
    if (!fits || !add_digits(fraction, n)) return false;
    if (binary && __builtin_mul_overflow(*n, (wide)1 << suffix->exponent, n)) return false;
    int64_t exponent = NANO_DIGITS - (int64_t)fraction.n + (binary ? 0 : suffix->exponent);
    if (!scale(n, exponent)) return false;
    if (binary && *n > BINARY_MAX) *n = BINARY_MAX; /* by its fraction */
    return true;
}

bool quantity_parse(struct str text, struct quantity *out, struct err *err)
{
    if (text.n == 0) return malformed(err, text, "empty");
    struct str rest = text, whole, fraction = {NULL, 0}, ending;
    bool negative = take_one(&rest, '-');
    if (!negative) take_one(&rest, '+');
    whole = take_span(&rest, "0123456789");
    if (take_one(&rest, '.')) fraction = take_span(&rest, "0123456789");
    if (whole.n + fraction.n == 0) return malformed(err, text, "no digits");
    ending = rest;
    take_span(&rest, "eEinumkKMGTP");
    if (!take_one(&rest, '-')) take_one(&rest, '+');
    take_span(&rest, "0123456789");
    if (rest.n > 0) return malformed(err, text, "not a number with a suffix");
    struct suffix suffix;
    if (!read_suffix(ending, &suffix)) {
        return malformed(err, text, "unknown suffix (n u m k M G T P E, Ki Mi Gi Ti Pi Ei or an exponent)");
    }
    wide n;
    if (!compose(whole, fraction, &suffix, &n)) return too_large(err, text);
    if (suffix.format == QUANTITY_BINARY_SI && n > 0 && n < NANOS) suffix.format = QUANTITY_DECIMAL_SI;
    *out = (struct quantity){.value = negative ? -n : n, .format = suffix.format};
    return true;
}

static void write_wide(struct buf *out, wide n)
{
    char text[48], *p = text + sizeof text;
    uwide left = n < 0 ? -(uwide)n : (uwide)n;
    do {
        *--p = (char)('0' + (int)(left % 10));
    } while ((left /= 10) != 0);
    if (n < 0) *--p = '-';
    buf_append(out, p, (size_t)(text + sizeof text - p));
}

static void write_decimal(struct buf *out, wide n, enum quantity_format format)
{
    static const char *const suffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    int exponent = -NANO_DIGITS;
    while (n % 1000 == 0 && (format == QUANTITY_DECIMAL_EXPONENT || exponent < EXA)) {
        n /= 1000;
        exponent += 3;
    }
    write_wide(out, n);
    if (format == QUANTITY_DECIMAL_SI) {
        buf_puts(out, suffixes[(exponent + NANO_DIGITS) / 3]);
    } else if (exponent != 0) {
        buf_printf(out, "e%d", exponent);
    }
}

static void write_binary(struct buf *out, wide n)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    int step = 0;
    for (; step < BINARY_STEPS && n % 1024 == 0; step++) n /= 1024;
    write_wide(out, n);
    buf_puts(out, suffixes[step]);
}

void quantity_text(const struct quantity *q, struct buf *out)
{
    bool small = q->value > -1024 * NANOS && q->value < 1024 * NANOS;
    if (q->value == 0) {
        buf_putc(out, '0');
    } else if (q->format == QUANTITY_DECIMAL_EXPONENT) {
        write_decimal(out, q->value, QUANTITY_DECIMAL_EXPONENT);
    } else if (q->format == QUANTITY_DECIMAL_SI || small || q->value % NANOS != 0) {
        write_decimal(out, q->value, QUANTITY_DECIMAL_SI); /* binary would have to round */
    } else {
        write_binary(out, q->value / NANOS);
    }
}

int quantity_cmp(const struct quantity *a, const struct quantity *b)
{
    return (a->value > b->value) - (a->value < b->value);
}

static bool overflow(struct err *err)
{
    return err_set(err, ERR_LIMIT, "result out of the range of quantities");
}

/* Returns the format of a sum; a zero takes that of the other. */
static enum quantity_format common_format(const struct quantity *a, const struct quantity *b)
{
    return a->value == 0 ? b->format : a->format;
}

bool quantity_add(const struct quantity *a, const struct quantity *b, struct quantity *out, struct err *err)
{
    enum quantity_format format = common_format(a, b);
    if (__builtin_add_overflow(a->value, b->value, &out->value)) return overflow(err);
    out->format = format;
    return true;
}

bool quantity_sub(const struct quantity *a, const struct quantity *b, struct quantity *out, struct err *err)
{
    enum quantity_format format = common_format(a, b);
    if (__builtin_sub_overflow(a->value, b->value, &out->value)) return overflow(err);
    out->format = format;
    return true;
}

bool quantity_mul(const struct quantity *a, int64_t n, struct quantity *out, struct err *err)
{
    enum quantity_format format = a->format;
    if (__builtin_mul_overflow(a->value, (wide)n, &out->value)) return overflow(err);
    out->format = format;
    return true;
}

double quantity_number(const struct quantity *q)
{
    wide whole = q->value / NANOS, rest = q->value % NANOS;
    return rest == 0 ? (double)whole : (double)q->value / (double)NANOS;
}
