/* Rate limits of a script: writes and requests per minute, log lines per second (E-4).
 * Owner: the script that embeds it. On the engine thread. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/series/series.h"
#include "script/vm/parts.h"

/* --- Rate of recent events: a count that slides over a period, in a fixed amount of memory. Owner: the
 * struct that embeds it. Has no clock; may be used anywhere. */

/* Counts an event, unless there were `most` within the period: then returns false and sets `*wait_ms` to the
 * time until there is room. */
bool rate_take(struct rate *rate, int64_t now_ms, int64_t period_ms, int64_t most, int64_t *wait_ms);

/* --- throttle */

struct script;

/* For script.c. */
void throttle_init(struct script *script);
void throttle_clear(struct script *script);
/* Waits for a turn of writes (LIMIT_WRITES) or requests (LIMIT_HTTP_REQUESTS): a token bucket with a burst of
 * half of a minute's number. The C function of a function that waits: returns true; nil, err at once if the
 * wait would exceed PACE_WAIT_MS or PACE_WAITING_MAX calls wait, with the limit, its value and the time until
 * there is room. */
enum { PACE_WAIT_MS = 30000, PACE_WAITING_MAX = 1000 };
int pace_turn(lua_State *L, enum limit limit, const char *verb);
/* Gives back a turn that does not count. */
void pace_give_back(struct script *script, enum limit limit);
struct pace_status pace_status(const struct script *script, enum limit limit);
/* Counts a log line. Returns false if it is to be omitted; a later line reports how many were. */
bool throttle_log_line(struct script *script);
