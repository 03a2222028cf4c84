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
    bool every_hour;                        /* follows the wall clock, see above */
};

enum { CRON_TEXT_MAX = 256 };

/* Parses five fields, or @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. ERR_INVALID names
 * the field, and its valid values. */
bool cron_parse(struct str text, struct cron *out, struct err *err);

/* Returns the first time (in seconds since the epoch) later than `after` at which it is due. INT64_MAX: none
 * within twelve years, which is never. */
int64_t cron_next(const struct cron *cron, const struct zone *zone, int64_t after);

/* --- Schedule on the wall clock, which may be set forward or back, or stand still while the machine sleeps.
 * Check it at least as often as stated; it reports when a run is due. Owner: a plain value; the zone is
 * borrowed. May be used anywhere. */

struct cron_schedule {
    struct cron cron;
    struct zone *zone;
    int64_t late_s;          /* how late a run may begin; INT64_MAX: as late as it likes */
    int64_t next_s;          /* when it is due, in seconds since the epoch; INT64_MAX: never */
    int64_t wall_us, now_ms; /* time of the last check */
};

/* A clock that is set back by less is waited for, so that nothing runs twice; by more it was wrong before. */
enum { CRON_STEP_BACK_MAX_S = 3 * 3600 };
/* Interval of checks, as no event reports that the clock was set forward. */
enum { CRON_CHECK_MS = 10000 };

/* Initialises a schedule. `wall_us` since the epoch, `now_ms` of a clock that is never set and that counts
 * time asleep. */
void cron_schedule_init(struct cron_schedule *plan, int64_t wall_us, int64_t now_ms);
/* Returns whether a run is due now: one, however many times have passed since the last call, and none if the
 * last of them is longer ago than its lateness allows. The next one is later than now. */
bool cron_schedule_due(struct cron_schedule *plan, int64_t wall_us, int64_t now_ms);
/* Returns the delay until the next call: CRON_CHECK_MS at most. */
int64_t cron_schedule_delay_ms(const struct cron_schedule *plan);
