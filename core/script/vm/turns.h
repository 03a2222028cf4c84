/* Turns of the loop in which scripts continue work in progress: woken calls, pending events, queue keys. All
 * scripts share one bounded turn; then signals, timers and probes run, and the rest comes in the next turn.
 * The script that waits longest comes first; within a script, the feature that the last turn had no time for.
 * Owner: the engine, longer than its scripts. On the engine thread; turns_schedule may be called anywhere on
 * it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "script/vm/parts.h"

struct script;

struct turns {
    struct timer timer;
    TAILQ_HEAD(, turn) waiting; /* longest wait first */
    size_t count;
    bool under_way;
    int64_t end_ms; /* of the turn in progress */
    bool over;      /* turns_expired found the turn used up */
};

void turns_init(struct turns *turns);
/* Schedules the rest of the script's work for the next turn. */
void turns_schedule(struct script *script);
/* Removes the script from the queue for turns. Call when it has no more work. */
void turns_unschedule(struct script *script);
/* Returns whether the turn has used up its time. Callers check it after every call and stop once it is true.
 */
bool turns_expired(const struct script *script);
