/* Turns of the loop in which scripts continue work in progress: woken calls, due timers, pending events,
 * queue keys (E-1). All scripts share one bounded turn, and each has a slice of it; then signals, timers and
 * probes run, and the rest comes in the next turn. The script that has used the least time comes first: a
 * script delays another by one slice and one call, however many timers or handlers it has. Within a script,
 * the feature that the last turn had no time for comes first. Owner: the engine, longer than its scripts. On
 * the engine thread; turns_schedule may be called anywhere on it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "script/vm/parts.h"

struct script;

struct turns {
    struct timer timer;
    TAILQ_HEAD(turn_list, turn) waiting; /* least time used first */
    size_t count;
    bool under_way;
    unsigned number;        /* of the turn */
    struct script *current; /* in its slice; NULL: none */
    bool again;             /* the current script scheduled itself */
    struct script *hasty;   /* whose dead objects are collected soon (memory.h); NULL: no one's */
    int64_t level_ms; /* largest spent_ms of a script at the begin of its slice; new waiters start there */
    int64_t end_ms;   /* of the slice */
    bool over;        /* turns_expired found the slice used up */
};

void turns_init(struct turns *turns);
/* Schedules the rest of the script's work for the next turn. */
void turns_schedule(struct script *script);
/* Removes the script from the queue for turns. Call when it has no more work. */
void turns_unschedule(struct script *script);
/* Holds back the script's turns until turns_release, while its successor copies what it has. Everything that
 * it may run meanwhile should wait like work that is owed. */
void turns_hold(struct script *script);
void turns_release(struct script *script);
/* Returns whether the script has used up its slice. Callers check it after every call and stop once it is
 * true.
 */
bool turns_expired(const struct script *script);
/* Returns whether calls of the script have used up the time that it may use between two of its turns, or the
 * turns are held, or a call is paused (task_pause.h). Callers leave work that can wait to its next turn.
 * False on a clock that is moved by hand.
 */
bool turns_are_owed(const struct script *script);
