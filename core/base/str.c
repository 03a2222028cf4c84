/* Slices of bytes; see str.h. */
#include "base/str.h"

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order) return order;
    return (a.n > b.n) - (a.n < b.n);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the digits at `*at` without leading zeros; moves behind them. */
static struct str take_digits(struct str text, size_t *at)
{
    size_t from = *at;
    while (*at < text.n && is_digit(text.p[*at])) (*at)++;
    while (from < *at && text.p[from] == '0') from++;
    return (struct str){text.p + from, *at - from};
}

int str_cmp_natural(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    while (i < a.n && j < b.n) {
        if (is_digit(a.p[i]) && is_digit(b.p[j])) {
            struct str x = take_digits(a, &i), y = take_digits(b, &j);
            if (x.n != y.n) return x.n < y.n ? -1 : 1;
            int order = str_cmp(x, y);
            if (order) return order;
        } else if (a.p[i] != b.p[j]) {
            return (unsigned char)a.p[i] < (unsigned char)b.p[j] ? -1 : 1;
        } else {
            i++;
            j++;
        }
    }
    if (i < a.n || j < b.n) return i < a.n ? 1 : -1;
    return str_cmp(a, b);
}

bool str_starts(struct str a, struct str prefix)
{
    return a.n >= prefix.n && (prefix.n == 0 || memcmp(a.p, prefix.p, prefix.n) == 0);
}

bool str_ends(struct str a, struct str suffix)
{
    return a.n >= suffix.n && (suffix.n == 0 || memcmp(a.p + a.n - suffix.n, suffix.p, suffix.n) == 0);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str a)
{
    while (a.n && is_blank(a.p[0])) a.p++, a.n--;
    while (a.n && is_blank(a.p[a.n - 1])) a.n--;
    return a;
}

bool str_cut(struct str *rest, char sep, struct str *part)
{
    if (!rest->p) return false;
    const char *at = rest->n ? memchr(rest->p, sep, rest->n) : NULL;
    if (!at) {
        *part = *rest;
        *rest = (struct str){NULL, 0};
        return true;
    }
    *part = (struct str){rest->p, (size_t)(at - rest->p)};
    *rest = (struct str){at + 1, rest->n - part->n - 1};
    return true;
}

size_t str_utf8(struct str a)
{
    if (a.n == 0) return 0;
    const unsigned char *p = (const unsigned char *)a.p;
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (n < 2) return n;
    if (n > a.n) return 0;
    /* no longer forms than needed, no surrogates, nothing above U+10FFFF */
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    return n;
}

uint32_t str_code_point(struct str a, size_t *n)
{
    *n = str_utf8(a);
    if (*n == 0) {
        *n = 1;
        return 0xfffd;
    }
    uint32_t c = (unsigned char)*a.p & (*n == 1 ? 0x7fU : 0xffU >> (*n + 1));
    for (size_t i = 1; i < *n; i++) c = c << 6 | ((unsigned char)a.p[i] & 0x3f);
    return c;
}

bool str_is_deceptive(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200b, 0x200f},
                  {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfffe, 0xffff}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    return false;
}

bool str_to_u64(struct str a, uint64_t *out)
{
    uint64_t value = 0;
    if (a.n == 0) return false;
    for (size_t i = 0; i < a.n; i++) {
        if (a.p[i] < '0' || a.p[i] > '9') return false;
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_add_overflow(value, (uint64_t)(a.p[i] - '0'), &value)) return false;
    }
    *out = value;
    return true;
}
