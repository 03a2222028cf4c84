/* Scripts go on, a part of their work in each turn of the loop; see turns.h. */
#include "script/vm/turns.h"

#include "base/mem.h"
#include "script/vm/feature.h"
#include "script/vm/state.h"

/* Of all scripts together; one call that takes longer is what it may take beyond. */
enum { TURN_MS = 50 };

/* A script's work, by feature; each asks for another turn when something is left of it. */
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

/* Scripts that were waiting when it began. The next one is due from the end: after timers that fell due in
 * this one. */
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
