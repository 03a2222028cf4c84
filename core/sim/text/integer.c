/* Decimal integers; see integer.h. */
#include "sim/text/integer.h"

bool sim_parse_int64(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    int64_t value = 0;
    if (*text == '-' || *text == '+') text++;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        int digit = *text - '0';
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        /* Down from zero when negative, as INT64_MIN has no positive counterpart. */
        if (negative ? __builtin_sub_overflow(value, digit, &value)
                     : __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}
