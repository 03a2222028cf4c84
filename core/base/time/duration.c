/* Reads durations; see duration.h. */
#include "base/time/duration.h"

static bool cut_digit(struct str *text, int *digit)
{
    if (text->n == 0 || *text->p < '0' || *text->p > '9') return false;
    *digit = *text->p - '0';
    text->p++;
    text->n--;
    return true;
}

/* "1", "1.5"; no sign, no exponent. */
static bool cut_number(struct str *text, double *out)
{
    int digit;
    double scale = 1;
    if (!cut_digit(text, &digit)) return false;
    *out = digit;
    while (cut_digit(text, &digit)) *out = *out * 10 + digit;
    if (text->n == 0 || *text->p != '.') return true;
    text->p++;
    text->n--;
    if (!cut_digit(text, &digit)) return false;
    do {
        scale /= 10;
        *out += digit * scale;
    } while (cut_digit(text, &digit));
    return true;
}

static bool cut_unit(struct str *text, double *ms)
{
    static const struct {
        struct str name;
        double ms;
    } units[] = {{STR("ns"), 1e-6},      {STR("us"), 1e-3},  {STR("\u00b5s"), 1e-3},
                 {STR("\u03bcs"), 1e-3}, {STR("ms"), 1},     {STR("s"), 1e3},
                 {STR("m"), 60e3},       {STR("h"), 3600e3}, {STR("d"), 24 * 3600e3}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!str_starts(*text, units[i].name)) continue;
        text->p += units[i].name.n;
        text->n -= units[i].name.n;
        *ms = units[i].ms;
        return true;
    }
    return false;
}

/* 0.1 + 0.2 seconds are 300 ms, not 301. */
static bool round_up(double ms, int64_t *out)
{
    if (!(ms >= 0 && ms <= (double)DURATION_MAX_MS)) return false;
    *out = (int64_t)ms;
    if (ms - (double)*out > 1e-7) (*out)++;
    return true;
}

bool duration_from_seconds(double seconds, int64_t *out_ms)
{
    return round_up(seconds * 1e3, out_ms);
}

bool duration_parse_ms(struct str text, int64_t *out)
{
    double total = 0, number, unit;
    bool first = true;
    do {
        if (!cut_number(&text, &number)) return false;
        if (first && text.n == 0) return duration_from_seconds(number, out);
        if (!cut_unit(&text, &unit)) return false;
        total += number * unit;
        first = false;
    } while (text.n > 0);
    return round_up(total, out);
}
