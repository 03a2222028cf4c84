/* Dates of the Gregorian calendar, counted as days and seconds since 1970-01-01, without any time zone.
 * Owner: stateless. May be used anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct civil {
    int64_t year;
    int month, day; /* from 1 */
    int hour, minute, second;
    int weekday; /* 0 is Sunday */
};

enum { DAY_S = 86400 };

/* Days from 1970-01-01 to that date; `month` is 1 to 12, `day` may be any number. */
int64_t civil_days(int64_t year, int month, int64_t day);
/* Returns the date and time that many seconds after 1970-01-01 00:00. */
struct civil civil_at(int64_t seconds);
/* Appends the UTC time of that many microseconds after 1970, with 0, 3 or 6 digits behind the point:
 * 2026-01-01T00:00:00.000Z. */
void civil_put_utc(struct buf *out, int64_t time_us, int digits);
/* Reads a time of RFC 3339, "2026-01-01T02:00:00.5+02:00", as seconds after 1970; fractions are cut off, and
 * the letters may be small. False for anything else, such as a day that its month does not have. */
bool civil_read_utc(struct str text, int64_t *seconds);
/* The same in microseconds, with up to six digits of the fraction. */
bool civil_read_utc_us(struct str text, int64_t *time_us);
int civil_month_length(int64_t year, int month);
/* Rounded towards the past, as dates before 1970 need it. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}
