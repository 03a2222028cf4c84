/* When a schedule falls due; see cron.h. Time is taken in stretches between two changes of the offset: in one
 * of them local time is a plain count, and a match is looked for there by days, hours and minutes. */
#include "base/civil.h"
#include "base/time/cron.h"

/* The longest wait is that for 29 February around 2100: eight years. */
#define LIMIT_S (INT64_C(12) * 366 * DAY_S)

static bool is_day(const struct cron *cron, const struct civil *at)
{
    bool day = cron->days >> at->day & 1, weekday = cron->weekdays >> at->weekday & 1;
    return cron->every_day || cron->every_weekday ? day && weekday : day || weekday;
}

/* The first minute of that day at or after `from`, both in local seconds; INT64_MAX for none. */
static int64_t match_in_day(const struct cron *cron, int64_t day, int64_t from)
{
    int64_t minute = from > day ? (from - day + 59) / 60 : 0;
    for (int64_t hour = minute / 60; hour < 24; hour++, minute = hour * 60) {
        if (!(cron->hours >> hour & 1)) continue;
        for (int64_t m = minute - hour * 60; m < 60; m++)
            if (cron->minutes >> m & 1) return day + hour * 3600 + m * 60;
    }
    return INT64_MAX;
}

/* The first minute in [from, until) that it names, in local seconds; INT64_MAX for none. */
static int64_t match(const struct cron *cron, int64_t from, int64_t until)
{
    int64_t day = floor_div(from, DAY_S) * DAY_S;
    while (day < until) {
        struct civil at = civil_at(day);
        if (!(cron->months >> at.month & 1)) {
            day = civil_days(at.year + at.month / 12, at.month % 12 + 1, 1) * DAY_S;
            continue;
        }
        int64_t found = is_day(cron, &at) ? match_in_day(cron, day, from) : INT64_MAX;
        if (found != INT64_MAX) return found < until ? found : INT64_MAX;
        day += DAY_S;
    }
    return INT64_MAX;
}

/* How far local time had come before this stretch began: what is earlier comes a second time now. Changes may
 * follow each other within hours. */
static int64_t come_before(const struct zone *zone, const struct zone_span *span)
{
    enum { STRETCHES = 4 };
    int64_t most = INT64_MIN;
    struct zone_span earlier = *span;
    for (int i = 0; i < STRETCHES && earlier.from != INT64_MIN; i++) {
        earlier = zone_span(zone, earlier.from - 1);
        if (earlier.until + earlier.offset_s > most) most = earlier.until + earlier.offset_s;
    }
    return most;
}

/* In the stretch that holds `from`: the first time at or after it. */
static int64_t next_in(const struct cron *cron, const struct zone *zone, const struct zone_span *span,
                       int64_t from, int64_t limit)
{
    int64_t until = span->until < limit ? span->until : limit;
    int64_t local = from + span->offset_s;
    if (!cron->every_hour && span->from != INT64_MIN) {
        int64_t before = come_before(zone, span);
        if (from == span->from && before < local && match(cron, before, local) != INT64_MAX) return from;
        if (local < before) local = before;
    }
    int64_t found = match(cron, local, until + span->offset_s);
    return found == INT64_MAX ? INT64_MAX : found - span->offset_s;
}

int64_t cron_next(const struct cron *cron, const struct zone *zone, int64_t after)
{
    int64_t from = after + 1, limit = from + LIMIT_S;
    while (from < limit) {
        struct zone_span span = zone_span(zone, from);
        int64_t found = next_in(cron, zone, &span, from, limit);
        if (found != INT64_MAX) return found;
        from = span.until;
    }
    return INT64_MAX;
}
