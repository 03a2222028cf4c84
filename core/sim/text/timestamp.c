/* Times and human ages; see timestamp.h. */
#include "sim/text/timestamp.h"

#include <stdio.h>

#include "base/civil.h"

json_t *sim_time(int64_t seconds)
{
    struct buf text = {0};
    civil_put_utc(&text, seconds * 1000000, 0);
    json_t *time = json_stringn(text.data, text.len);
    buf_clear(&text);
    return time;
}

void sim_age_format(int64_t seconds, char out[static SIM_AGE_MAX])
{
    enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };
    /* "3d4h", or "3d" when nothing of the smaller unit is left or it is not shown. */
    static const struct {
        int64_t below;
        int big, small;
        const char *big_unit, *small_unit;
    } forms[] = {
        {2 * MINUTE, 1, 0, "s", ""},    {10 * MINUTE, MINUTE, 1, "m", "s"},
        {3 * HOUR, MINUTE, 0, "m", ""}, {8 * HOUR, HOUR, MINUTE, "h", "m"},
        {2 * DAY, HOUR, 0, "h", ""},    {8 * DAY, DAY, HOUR, "d", "h"},
        {2 * YEAR, DAY, 0, "d", ""},    {8LL * YEAR, YEAR, DAY, "y", "d"},
        {INT64_MAX, YEAR, 0, "y", ""},
    };
    size_t form = 0;
    if (seconds < -1) {
        snprintf(out, SIM_AGE_MAX, "<invalid>");
        return;
    }
    if (seconds < 0) seconds = 0;
    while (seconds >= forms[form].below) form++;
    long long big = seconds / forms[form].big, rest = seconds % forms[form].big;
    long long small = forms[form].small ? rest / forms[form].small : 0;
    int n = snprintf(out, SIM_AGE_MAX, "%lld%s", big, forms[form].big_unit);
    if (small) snprintf(out + n, SIM_AGE_MAX - (size_t)n, "%lld%s", small, forms[form].small_unit);
}

json_t *sim_age(const char *text, int64_t now_s)
{
    char age[SIM_AGE_MAX];
    int64_t then;
    if (!civil_read_utc(str_of(text), &then)) return json_string("<unknown>");
    sim_age_format(now_s - then, age);
    return json_string(age);
}
