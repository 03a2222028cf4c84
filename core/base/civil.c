/* Gregorian calendar; see civil.h. Years begin in March here, so that a leap day is the last of its year, and
 * 400 of them always have the same number of days. */
#include "base/civil.h"

#include <ctype.h>
#include <inttypes.h>

enum { ERA_YEARS = 400, ERA_DAYS = 146097, EPOCH_DAYS = 719468 /* from 0000-03-01 to 1970-01-01 */ };

int64_t civil_days(int64_t year, int month, int64_t day)
{
    if (month < 3) year--;
    int64_t era = floor_div(year, ERA_YEARS);
    int64_t year_of_era = year - era * ERA_YEARS;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - EPOCH_DAYS + day - 1;
}

static void set_date(struct civil *c, int64_t days)
{
    days += EPOCH_DAYS;
    int64_t era = floor_div(days, ERA_DAYS);
    int64_t day_of_era = days - era * ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / (ERA_DAYS - 1)) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int march_month = (int)((5 * day_of_year + 2) / 153);
    c->day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1);
    c->month = march_month < 10 ? march_month + 3 : march_month - 9;
    c->year = year_of_era + era * ERA_YEARS + (c->month < 3);
}

struct civil civil_at(int64_t seconds)
{
    struct civil c;
    int64_t days = floor_div(seconds, DAY_S);
    int rest = (int)(seconds - days * DAY_S);
    set_date(&c, days);
    c.hour = rest / 3600;
    c.minute = rest / 60 % 60;
    c.second = rest % 60;
    c.weekday = (int)((days % 7 + 11) % 7); /* 1970-01-01 was a Thursday */
    return c;
}

void civil_put_utc(struct buf *out, int64_t time_us, int digits)
{
    int64_t seconds = floor_div(time_us, 1000000);
    struct civil c = civil_at(seconds);
    int micros = (int)(time_us - seconds * 1000000);
    buf_printf(out, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d", c.year, c.month, c.day, c.hour, c.minute,
               c.second);
    if (digits) buf_printf(out, ".%0*d", digits, digits == 3 ? micros / 1000 : micros);
    buf_putc(out, 'Z');
}

/* Does it begin so? 'd' stands for a digit, and a capital for a small letter too. */
static bool has_form(struct str text, const char *form)
{
    for (size_t i = 0; form[i]; i++) {
        if (i == text.n) return false;
        unsigned char c = (unsigned char)text.p[i];
        if (form[i] == 'd' ? !isdigit(c) : toupper(c) != form[i]) return false;
    }
    return true;
}

static int number(const char *digits, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) value = value * 10 + (digits[i] - '0');
    return value;
}

/* "Z", "+02:00" */
static bool read_offset(struct str text, int *seconds)
{
    *seconds = 0;
    if (text.n == 1 && has_form(text, "Z")) return true;
    if (text.n != 6 || (!has_form(text, "+dd:dd") && !has_form(text, "-dd:dd"))) return false;
    int hours = number(text.p + 1, 2), minutes = number(text.p + 4, 2);
    *seconds = (*text.p == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60;
}

/* Cuts ".25" off, as microseconds; 0 if there is none. */
static int cut_fraction(struct str *text)
{
    int us = 0, unit = 100000;
    if (!has_form(*text, ".d")) return 0;
    for (text->p++, text->n--; has_form(*text, "d"); text->p++, text->n--, unit /= 10)
        us += (*text->p - '0') * unit;
    return us;
}

bool civil_read_utc(struct str text, int64_t *seconds)
{
    int64_t time_us;
    if (!civil_read_utc_us(text, &time_us)) return false;
    *seconds = floor_div(time_us, 1000000);
    return true;
}

bool civil_read_utc_us(struct str text, int64_t *time_us)
{
    enum { HEAD = 19 };
    int offset_s;
    if (!has_form(text, "dddd-dd-ddTdd:dd:dd")) return false;
    struct str rest = {text.p + HEAD, text.n - HEAD};
    int month = number(text.p + 5, 2), day = number(text.p + 8, 2);
    int hour = number(text.p + 11, 2), minute = number(text.p + 14, 2), second = number(text.p + 17, 2);
    int fraction_us = cut_fraction(&rest);
    if (!read_offset(rest, &offset_s)) return false;
    int year = number(text.p, 4);
    if (month < 1 || month > 12 || day < 1 || day > civil_month_length(year, month)) return false;
    if (hour > 23 || minute > 59 || second > 60) return false;
    int64_t seconds = civil_days(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second - offset_s;
    *time_us = seconds * 1000000 + fraction_us;
    return true;
}

int civil_month_length(int64_t year, int month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return lengths[month - 1] + (month == 2 && leap);
}
