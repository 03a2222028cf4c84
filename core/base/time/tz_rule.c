/* POSIX rules of time zones; see tz_rule.h. */
#include "base/time/tz_rule.h"

#include "base/civil.h"

/* --- reading */

static bool cut(struct str *text, char c)
{
    if (text->n == 0 || *text->p != c) return false;
    text->p++;
    text->n--;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "CET" or "<+1030>"; what it says is not needed. */
static bool cut_name(struct str *text)
{
    bool quoted = cut(text, '<');
    size_t n = 0;
    while (n < text->n && (is_letter(text->p[n]) ||
                           (quoted && (is_digit(text->p[n]) || text->p[n] == '+' || text->p[n] == '-'))))
        n++;
    text->p += n;
    text->n -= n;
    return n >= 3 && (!quoted || cut(text, '>'));
}

static bool cut_number(struct str *text, int max, int *out)
{
    if (text->n == 0 || !is_digit(*text->p)) return false;
    for (*out = 0; text->n && is_digit(*text->p); text->p++, text->n--) {
        *out = *out * 10 + (*text->p - '0');
        if (*out > max) return false;
    }
    return true;
}

/* [+-]hh[:mm[:ss]] */
static bool cut_time(struct str *text, int max_hours, int32_t *out)
{
    bool negative = cut(text, '-');
    int hours, minutes = 0, seconds = 0;
    if (!negative) cut(text, '+');
    if (!cut_number(text, max_hours, &hours)) return false;
    if (cut(text, ':') && !cut_number(text, 59, &minutes)) return false;
    if (minutes >= 0 && cut(text, ':') && !cut_number(text, 59, &seconds)) return false;
    *out = hours * 3600 + minutes * 60 + seconds;
    if (negative) *out = -*out;
    return true;
}

static bool cut_offset(struct str *text, int32_t *out)
{
    if (!cut_time(text, 24, out)) return false;
    *out = -*out; /* POSIX counts west of Greenwich */
    return true;
}

static bool cut_day(struct str *text, struct tz_change *out)
{
    if (cut(text, 'M')) {
        out->form = TZ_MONTH;
        return cut_number(text, 12, &out->month) && out->month >= 1 && cut(text, '.') &&
               cut_number(text, 5, &out->week) && out->week >= 1 && cut(text, '.') &&
               cut_number(text, 6, &out->day);
    }
    out->form = cut(text, 'J') ? TZ_JULIAN : TZ_DAY;
    return cut_number(text, 365, &out->day) && (out->form == TZ_DAY || out->day >= 1);
}

static bool cut_change(struct str *text, struct tz_change *out)
{
    *out = (struct tz_change){.time_s = 2 * 3600};
    if (!cut(text, ',') || !cut_day(text, out)) return false;
    return !cut(text, '/') || cut_time(text, 167, &out->time_s);
}

static bool cut_rule(struct str *text, struct tz_rule *rule)
{
    *rule = (struct tz_rule){0};
    if (!cut_name(text) || !cut_offset(text, &rule->standard_s)) return false;
    if (text->n == 0) return true;
    rule->has_summer = true;
    rule->summer_s = rule->standard_s + 3600;
    if (!cut_name(text)) return false;
    if (text->n && *text->p != ',' && !cut_offset(text, &rule->summer_s)) return false;
    struct str usual = STR(",M3.2.0,M11.1.0");
    if (text->n == 0) return cut_change(&usual, &rule->start) && cut_change(&usual, &rule->end);
    return cut_change(text, &rule->start) && cut_change(text, &rule->end);
}

bool tz_rule_parse(struct str text, struct tz_rule *out, struct err *err)
{
    struct str rest = text;
    if (cut_rule(&rest, out) && rest.n == 0) return true;
    return err_set(err, ERR_PARSE, "\"%.*s\" is not a rule of a time zone", STR_ARG(text));
}

/* --- what it says */

static int64_t day_of(const struct tz_change *change, int64_t year)
{
    int64_t first = civil_days(year, 1, 1);
    if (change->form == TZ_DAY) return first + change->day;
    if (change->form == TZ_JULIAN)
        return first + change->day - 1 + (change->day >= 60 && civil_month_length(year, 2) == 29);
    first = civil_days(year, change->month, 1);
    int weekday = civil_at(first * DAY_S).weekday;
    int day = (change->day - weekday + 7) % 7 + (change->week - 1) * 7;
    if (day >= civil_month_length(year, change->month)) day -= 7; /* week 5 is the last one */
    return first + day;
}

/* The end of one summer may be the beginning of the next: what comes later here wins. */
struct zone_span tz_rule_span(const struct tz_rule *rule, int64_t at)
{
    struct zone_span span = {INT64_MIN, INT64_MAX, rule->standard_s};
    if (!rule->has_summer) return span;
    int64_t year = civil_at(at + rule->standard_s).year;
    for (int64_t y = year - 2; y <= year + 2; y++) {
        int64_t start = day_of(&rule->start, y) * DAY_S + rule->start.time_s - rule->standard_s;
        int64_t end = day_of(&rule->end, y) * DAY_S + rule->end.time_s - rule->summer_s;
        bool start_first = start < end;
        for (int i = 0; i < 2; i++) {
            bool is_start = (i == 0) == start_first;
            int64_t when = is_start ? start : end;
            if (when <= at && when >= span.from)
                span.from = when, span.offset_s = is_start ? rule->summer_s : rule->standard_s;
            if (when > at && when < span.until) span.until = when;
        }
    }
    return span;
}
