/* Schedules against the clock on the wall; see cron_plan.h. */
#include "base/time/cron_plan.h"

#include "base/civil.h"

enum { SECOND_US = 1000000 };

static void look(struct cron_plan *plan, int64_t wall_us, int64_t now_ms)
{
    plan->wall_us = wall_us;
    plan->now_ms = now_ms;
}

static void begin_anew(struct cron_plan *plan)
{
    plan->next_s = cron_next(&plan->cron, plan->zone, floor_div(plan->wall_us, SECOND_US));
}

void cron_plan_init(struct cron_plan *plan, int64_t wall_us, int64_t now_ms)
{
    look(plan, wall_us, now_ms);
    begin_anew(plan);
}

/* By how much the clock was set since it was last looked at; time asleep is none of it. */
static int64_t step_us(const struct cron_plan *plan, int64_t wall_us, int64_t now_ms)
{
    return (wall_us - plan->wall_us) - (now_ms - plan->now_ms) * 1000;
}

/* Some time in (now - late, now] was one of its own. */
static bool was_due_lately(const struct cron_plan *plan, int64_t now_s)
{
    if (plan->late_s >= now_s - plan->next_s) return true;
    return cron_next(&plan->cron, plan->zone, now_s - plan->late_s - 1) <= now_s;
}

bool cron_plan_due(struct cron_plan *plan, int64_t wall_us, int64_t now_ms)
{
    bool was_wrong = step_us(plan, wall_us, now_ms) < -(int64_t)CRON_STEP_BACK_MAX_S * SECOND_US;
    look(plan, wall_us, now_ms);
    int64_t now_s = floor_div(wall_us, SECOND_US);
    if (was_wrong) begin_anew(plan);
    if (now_s < plan->next_s) return false;
    bool due = was_due_lately(plan, now_s);
    begin_anew(plan);
    return due;
}

int64_t cron_plan_delay_ms(const struct cron_plan *plan)
{
    int64_t most_us = CRON_LOOK_MS * INT64_C(1000);
    if (plan->next_s > floor_div(plan->wall_us + most_us, SECOND_US)) return CRON_LOOK_MS;
    int64_t left_us = plan->next_s * SECOND_US - plan->wall_us;
    return left_us > 0 ? (left_us + 999) / 1000 : 0;
}
