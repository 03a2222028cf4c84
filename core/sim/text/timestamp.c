/* RFC 3339 and human ages; see timestamp.h. */
#include "sim/text/timestamp.h"

#include <ctype.h>
#include <stdio.h>
#include <time.h>

void sim_time_format(int64_t seconds, char out[static SIM_TIME_MAX])
{
    time_t t = (time_t)seconds;
    struct tm tm;
    if (!gmtime_r(&t, &tm) || strftime(out, SIM_TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        snprintf(out, SIM_TIME_MAX, "1970-01-01T00:00:00Z");
}

static bool digits(const char **at, int count, int *out)
{
    *out = 0;
    for (; count > 0; count--, (*at)++) {
        if (!isdigit((unsigned char)**at)) return false;
        *out = *out * 10 + (**at - '0');
    }
    return true;
}

static bool literal(const char **at, char c)
{
    if (**at != c) return false;
    (*at)++;
    return true;
}

static bool zone(const char **at, int64_t *offset_s)
{
    int hours, minutes;
    *offset_s = 0;
    if (literal(at, 'Z')) return true;
    char sign = **at;
    if (sign != '+' && sign != '-') return false;
    (*at)++;
    if (!digits(at, 2, &hours) || !literal(at, ':') || !digits(at, 2, &minutes)) return false;
    *offset_s = (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

bool sim_time_parse(const char *text, int64_t *seconds)
{
    struct tm tm = {0};
    int64_t offset_s;
    if (!text) return false;
    if (!digits(&text, 4, &tm.tm_year) || !literal(&text, '-') || !digits(&text, 2, &tm.tm_mon) ||
        !literal(&text, '-') || !digits(&text, 2, &tm.tm_mday) || !literal(&text, 'T') ||
        !digits(&text, 2, &tm.tm_hour) || !literal(&text, ':') || !digits(&text, 2, &tm.tm_min) ||
        !literal(&text, ':') || !digits(&text, 2, &tm.tm_sec))
        return false;
    if (literal(&text, '.')) {
        if (!isdigit((unsigned char)*text)) return false;
        while (isdigit((unsigned char)*text)) text++;
    }
    if (!zone(&text, &offset_s) || *text) return false;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *seconds = (int64_t)timegm(&tm) - offset_s;
    return true;
}

/* "3d4h", or "3d" when nothing of the smaller unit is left. */
static void two_units(char out[static SIM_AGE_MAX], int64_t big, const char *big_unit, int64_t small,
                      const char *small_unit)
{
    if (small)
        snprintf(out, SIM_AGE_MAX, "%lld%s%lld%s", (long long)big, big_unit, (long long)small, small_unit);
    else
        snprintf(out, SIM_AGE_MAX, "%lld%s", (long long)big, big_unit);
}

void sim_age_format(int64_t seconds, char out[static SIM_AGE_MAX])
{
    const int64_t minute = 60, hour = 60 * minute, day = 24 * hour, year = 365 * day;
    if (seconds < -1)
        snprintf(out, SIM_AGE_MAX, "<invalid>");
    else if (seconds < 2 * minute)
        two_units(out, seconds < 0 ? 0 : seconds, "s", 0, "");
    else if (seconds < 10 * minute)
        two_units(out, seconds / minute, "m", seconds % minute, "s");
    else if (seconds < 3 * hour)
        two_units(out, seconds / minute, "m", 0, "");
    else if (seconds < 8 * hour)
        two_units(out, seconds / hour, "h", seconds / minute % 60, "m");
    else if (seconds < 2 * day)
        two_units(out, seconds / hour, "h", 0, "");
    else if (seconds < 8 * day)
        two_units(out, seconds / day, "d", seconds / hour % 24, "h");
    else if (seconds < 2 * year)
        two_units(out, seconds / day, "d", 0, "");
    else if (seconds < 8 * year)
        two_units(out, seconds / year, "y", seconds / day % 365, "d");
    else
        two_units(out, seconds / year, "y", 0, "");
}

void sim_age(const char *text, int64_t now_s, char out[static SIM_AGE_MAX])
{
    int64_t then;
    if (sim_time_parse(text, &then))
        sim_age_format(now_s - then, out);
    else
        snprintf(out, SIM_AGE_MAX, "<unknown>");
}
