/* Turns of the loop in which scripts go on with what waits in them: calls that were woken, events that
 * handlers have not received yet, keys of queues. All scripts together have one bounded turn, then signals,
 * timers and probes have theirs, and what is left comes in the next one. The script that waits longest comes
 * first; in a script, what the last turn had no time for. Owner: the engine, longer than its scripts. On the
 * engine thread; turns_schedule is for anywhere on it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "script/vm/parts.h"

struct script;

struct turns {
    struct timer timer;
    TAILQ_HEAD(, turn) waiting; /* the one that waits longest comes first */
    size_t count;
    bool under_way;
    int64_t end_ms; /* of the turn that is under way */
    bool over;      /* found by turns_expired */
};

void turns_init(struct turns *turns);
/* Schedules the rest of the script's work for the next turn. */
void turns_schedule(struct script *script);
/* The script has no more work. */
void turns_unschedule(struct script *script);
/* Returns whether the turn has used up its time. Callers check it after every call and stop once it is true.
 */
bool turns_expired(const struct script *script);
