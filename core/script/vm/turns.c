/* Shares turns of the loop among scripts; see turns.h. */
#include "script/vm/turns.h"

#include "base/mem.h"
#include "script/vm/cpu_watch.h"
#include "script/vm/feature.h"
#include "script/vm/state.h"

/* Longest turn of all scripts together, and slice of one of them, short enough for health probes and lease
 * renewals between turns. The last call may exceed both by its own limit: a script delays others by 70 ms.
 * SHARE_MS is the time that calls of a script may take between two turns. DEBT_MS is the most that a script
 * counts as ahead of the others, more than a slice takes within the default limits: what calls took beyond
 * that is forgiven, or a script with raised limits would wait as long as its longest call took. */
enum { TURN_MS = 20, SLICE_MS = 10, SHARE_MS = 8, DEBT_MS = 100 };

/* Returns whether the rest of the script's work may begin. */
static bool begin_turn(struct script *script)
{
    const struct feature_list *list = script->features;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->first && !list->items[i]->first(script)) return false;
    if (script->host->turns->over) turns_schedule(script);
    return !script->host->turns->over;
}

/* Runs the work of a script, feature by feature. Starts where the last turn ended, so that the first feature
 * cannot starve the others; a feature with work left schedules its own next turn. */
static void take_turn(struct script *script)
{
    const struct feature_list *list = script->features;
    size_t first = script->turn.first, done = 0, count = 0;
    while (list->items[count]->turn) count++;
    if (!begin_turn(script)) return;
    script->turn.first = 0;
    while (done < count) {
        list->items[(first + done++) % count]->turn(script);
        if (!script->host->turns->over) continue;
        script->turn.first = (first + done) % count;
        if (done < count) turns_schedule(script);
        break;
    }
    FEATURES_EACH(script, turned);
}

static struct script *first_of(struct turns *turns)
{
    return container_of(TAILQ_FIRST(&turns->waiting), struct script, turn);
}

static void start(struct turns *turns)
{
    if (turns->count > 0 && !turns->under_way && !timer_running(&turns->timer))
        timer_start(&turns->timer, script_clock(first_of(turns)), 0);
}

static void take_slice(struct turns *turns, struct script *script, int64_t end_ms)
{
    struct clock *clock = script_clock(script);
    int64_t now_ms = clock_now_ms(clock);
    turns_unschedule(script);
    if (script->turn.spent_ms > turns->level_ms) turns->level_ms = script->turn.spent_ms;
    turns->end_ms = now_ms + SLICE_MS < end_ms ? now_ms + SLICE_MS : end_ms;
    turns->over = turns->again = false;
    turns->current = script;
    script->turn.ticks = 0;
    script->turn.served = turns->number;
    take_turn(script);
    turns->current = NULL;
    script->turn.spent_ms += clock_now_ms(clock) - now_ms;
    if (script->turn.spent_ms > turns->level_ms + DEBT_MS) script->turn.spent_ms = turns->level_ms + DEBT_MS;
    if (turns->again) turns_schedule(script);
}

/* Returns the first that waits. A brief script has one piece in a turn, so that others wait for one. */
static struct script *next_of(const struct turns *turns)
{
    struct turn *turn;
    TAILQ_FOREACH (turn, &turns->waiting, link) {
        struct script *script = container_of(turn, struct script, turn);
        if (!script->brief || turn->served != turns->number) return script;
    }
    return NULL;
}

/* Serves as many scripts as were waiting when the turn began. The next turn is due after the end of this one:
 * timers that fell due meanwhile come first. */
static void on_turn(struct timer *timer)
{
    struct turns *turns = container_of(timer, struct turns, timer);
    struct clock *clock = script_clock(first_of(turns));
    int64_t end_ms = clock_now_ms(clock) + TURN_MS;
    struct script *script;
    turns->under_way = true;
    turns->number++;
    for (size_t left = turns->count; left > 0 && clock_now_ms(clock) < end_ms; left--) {
        if (!(script = next_of(turns))) break;
        take_slice(turns, script, end_ms);
    }
    turns->under_way = false;
    start(turns);
}

void turns_init(struct turns *turns)
{
    *turns = (struct turns){.timer.fn = on_turn};
    TAILQ_INIT(&turns->waiting);
}

void turns_schedule(struct script *script)
{
    struct turns *turns = script->host->turns;
    struct turn *turn = &script->turn, *before = TAILQ_LAST(&turns->waiting, turn_list);
    if (script == turns->current) turns->again = true;
    if (turn->waits || turn->held || script == turns->current) return;
    turn->waits = true;
    if (turn->spent_ms < turns->level_ms) turn->spent_ms = turns->level_ms;
    while (before && before->spent_ms > turn->spent_ms) before = TAILQ_PREV(before, turn_list, link);
    if (before)
        TAILQ_INSERT_AFTER(&turns->waiting, before, turn, link);
    else
        TAILQ_INSERT_HEAD(&turns->waiting, turn, link);
    turns->count++;
    start(turns);
}

void turns_unschedule(struct script *script)
{
    struct turns *turns = script->host->turns;
    if (turns && script == turns->current) turns->again = false;
    if (!script->turn.waits) return;
    script->turn.waits = false;
    TAILQ_REMOVE(&turns->waiting, &script->turn, link);
    if (--turns->count == 0) timer_cancel(&turns->timer);
}

void turns_hold(struct script *script)
{
    turns_unschedule(script);
    script->turn.held = true;
}

void turns_release(struct script *script)
{
    if (!script->turn.held) return;
    script->turn.held = false;
    turns_schedule(script);
}

bool turns_expired(const struct script *script)
{
    struct turns *turns = script->host->turns;
    if (!turns->over) turns->over = clock_now_ms(script_clock(script)) >= turns->end_ms;
    return turns->over;
}

bool turns_are_owed(const struct script *script)
{
    return script->turn.held || script->tasks.paused || script->turn.ticks * CPU_WATCH_MS >= SHARE_MS;
}
