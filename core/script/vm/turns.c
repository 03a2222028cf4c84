/* Shares turns of the loop among scripts; see turns.h. */
#include "script/vm/turns.h"

#include "base/mem.h"
#include "script/vm/feature.h"
#include "script/vm/state.h"

/* Longest turn of all scripts together, short enough for health probes and lease renewals between turns; its
 * last call may exceed it by its own limit. */
enum { TURN_MS = 50 };

/* Runs the work of a script, feature by feature. Starts where the last turn ended, so that the first feature
 * cannot starve the others; a feature with work left schedules its own next turn. */
static void take_turn(struct script *script)
{
    const struct feature_list *list = script->features;
    size_t first = script->turn.first, done = 0, count = 0;
    while (list->items[count]->turn) count++;
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

/* Serves only scripts that were waiting when the turn began, so that one that schedules itself again waits
 * for the others. The next turn is due after the end of this one: timers that fell due meanwhile come
 * first. */
static void on_turn(struct timer *timer)
{
    struct turns *turns = container_of(timer, struct turns, timer);
    turns->end_ms = clock_now_ms(script_clock(first_of(turns))) + TURN_MS;
    turns->over = false;
    turns->under_way = true;
    for (size_t left = turns->count; left > 0 && turns->count > 0 && !turns->over; left--) {
        struct script *script = first_of(turns);
        turns_unschedule(script);
        take_turn(script);
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
    if (script->turn.waits) return;
    script->turn.waits = true;
    TAILQ_INSERT_TAIL(&turns->waiting, &script->turn, link);
    turns->count++;
    start(turns);
}

void turns_unschedule(struct script *script)
{
    struct turns *turns = script->host->turns;
    if (!script->turn.waits) return;
    script->turn.waits = false;
    TAILQ_REMOVE(&turns->waiting, &script->turn, link);
    if (--turns->count == 0) timer_cancel(&turns->timer);
}

bool turns_expired(const struct script *script)
{
    struct turns *turns = script->host->turns;
    if (!turns->over) turns->over = clock_now_ms(script_clock(script)) >= turns->end_ms;
    return turns->over;
}
