/* Slices of bytes; see str.h. */
#include "base/str.h"

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order) return order;
    return (a.n > b.n) - (a.n < b.n);
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
