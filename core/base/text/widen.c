/* Integers of JSON that are too large for a parser; see widen.h. */
#include "base/text/widen.h"

#include <string.h>

/* Returns the length of a text's first bytes that can stand in a number. */
static size_t number_length(const char *p, const char *end)
{
    size_t n = 0;
    while (p + n < end && ((p[n] >= '0' && p[n] <= '9') || memchr("+-.eE", p[n], 5))) n++;
    return n;
}

/* Returns whether it is an integer out of range. */
static bool is_huge(struct str number, bool has_unsigned)
{
    const struct str most = *number.p == '-' ? STR("-9223372036854775808")
                            : has_unsigned   ? STR("18446744073709551615")
                                             : STR("9223372036854775807");
    for (size_t i = *number.p == '-'; i < number.n; i++) {
        if (number.p[i] < '0' || number.p[i] > '9') return false;
    }
    return number.n > most.n || (number.n == most.n && memcmp(number.p, most.p, most.n) > 0);
}

bool widen_integers(struct str json, bool has_unsigned, struct buf *out)
{
    const char *p = json.p, *end = json.p + json.n, *copied = p;
    bool in_string = false;
    while (p < end) {
        size_t n = in_string ? 0 : number_length(p, end);
        if (n == 0) {
            in_string ^= *p == '"';
            p += in_string && *p == '\\' && end - p > 1 ? 2 : 1;
            continue;
        }
        bool huge = is_huge((struct str){p, n}, has_unsigned);
        p += n;
        if (!huge) continue;
        buf_append(out, copied, (size_t)(p - copied));
        buf_puts(out, "e0");
        copied = p;
    }
    if (out->len == 0) return false;
    buf_append(out, copied, (size_t)(end - copied));
    return true;
}
