/* Schedules as crontab and Kubernetes' CronJob write them: "0 3 * * mon-fri", and when they fall due in a
 * time zone. Owner: a plain value. May be used anywhere.
 *
 * Where clocks are put forward, a time that does not exist is due at the first moment after the gap, once.
 * Where they are put back, a time that comes twice is due the first time. A schedule whose hours begin with *
 * is due at each minute of the clock that it names, whatever was done to the clock: also twice, and not in a
 * gap. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "base/time/zone.h"

struct cron {
    uint64_t minutes;
    uint32_t hours, days, months, weekdays; /* a bit for each value */
    bool every_day, every_weekday;          /* when neither, it is enough that one of the two fits */
    bool every_hour;                        /* goes by the clock, see above */
};

enum { CRON_TEXT_MAX = 256 };

/* Five fields, or @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. ERR_INVALID: the text
 * names the field, and what it may hold. */
bool cron_parse(struct str text, struct cron *out, struct err *err);

/* The first time (in seconds since the epoch) later than `after` at which it is due. INT64_MAX: none within
 * twelve years, which is never. */
int64_t cron_next(const struct cron *cron, const struct zone *zone, int64_t after);
