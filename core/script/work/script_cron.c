/* k8s.cron: timers that go by the clock on the wall; see script_timer.h, and base/time/cron.h for what
 * happens when that clock is set. */
#include <stdlib.h>

#include "base/mem.h"
#include "script/work/script_timer.h"

/* --- zones */

struct script_zone {
    SLIST_ENTRY(script_zone) link;
    struct zone *zone;
};

struct zone *script_zone(struct script *script, struct str name, struct err *err)
{
    struct script_zone *z;
    SLIST_FOREACH (z, &script->zones, link)
        if (str_is(name, zone_name(z->zone))) return z->zone;
    struct zone *zone = name.n ? zone_named(name, err) : zone_local(err);
    if (!zone) return NULL;
    z = NEW(struct script_zone);
    z->zone = zone;
    SLIST_INSERT_HEAD(&script->zones, z, link);
    return zone;
}

void script_zones_clear(struct script *script)
{
    struct script_zone *z;
    while ((z = SLIST_FIRST(&script->zones))) {
        SLIST_REMOVE_HEAD(&script->zones, link);
        zone_unref(z->zone);
        free(z);
    }
}

/* --- runs */

static void wait(struct script_timer *t)
{
    timer_start(&t->timer, script_clock(t->script), cron_plan_delay_ms(&t->plan));
}

/* In the next turn of the loop: a run may be due. */
void script_cron_start(struct script_timer *t)
{
    timer_start(&t->timer, script_clock(t->script), 0);
}

/* Whether a run may begin though one is under way. */
static bool may_overlap(struct script_timer *t)
{
    switch (t->overlap) {
    case OVERLAP_SKIP: t->skipped++; return false;
    case OVERLAP_QUEUE:
        t->skipped += t->queued;
        t->queued = true;
        return false;
    case OVERLAP_ALLOW: break;
    case OVERLAP_REPLACE:
        if (t->follows) script_timer_cancel_ticks(t->follows);
        script_timer_cancel_ticks(t);
        break;
    }
    return true;
}

void script_cron_look(struct script_timer *t)
{
    struct clock *clock = script_clock(t->script);
    bool due = cron_plan_due(&t->plan, clock_wall_us(clock), clock_now_ms(clock));
    bool idle = LIST_EMPTY(&t->ticks) && !t->follows;
    if (idle && t->queued) {
        t->queued = false;
        due = true;
    }
    wait(t);
    if (!due || (t->leader && !script_leads(t->script))) return;
    if (idle || may_overlap(t)) script_timer_tick(t);
}

/* In a later turn of the loop: a call may have been cancelled from within another. */
void script_cron_ended(struct script_timer *t)
{
    if (t->queued) script_cron_start(t);
}
