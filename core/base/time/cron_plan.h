/* A schedule against the clock on the wall, which may be set, put back, or stand still while the machine
 * sleeps. Whoever drives it asks at least as often as it says, and is told when a run is due. Owner: a plain
 * value; the zone is borrowed. May be used anywhere. */
#pragma once
#include "base/time/cron.h"

struct cron_plan {
    struct cron cron;
    struct zone *zone;
    int64_t late_s;          /* how late a run may begin; INT64_MAX: as late as it likes */
    int64_t next_s;          /* when it is due, in seconds since the epoch; INT64_MAX: never */
    int64_t wall_us, now_ms; /* when it was last asked */
};

/* A clock that is put back by less is waited for, so that nothing runs twice; by more it was wrong before. */
enum { CRON_STEP_BACK_MAX_S = 3 * 3600 };
/* Nothing tells that the clock was put forward: it is looked at so often. */
enum { CRON_LOOK_MS = 10000 };

/* `wall_us` since the epoch, `now_ms` of a clock that nobody sets and that counts time asleep. */
void cron_plan_init(struct cron_plan *plan, int64_t wall_us, int64_t now_ms);
/* Whether a run is due now: one, however many times have passed since it was last asked, and none when the
 * last of them is longer ago than it may be late. The next one is later than now. */
bool cron_plan_due(struct cron_plan *plan, int64_t wall_us, int64_t now_ms);
/* When to ask again: at CRON_LOOK_MS at the latest. */
int64_t cron_plan_delay_ms(const struct cron_plan *plan);
