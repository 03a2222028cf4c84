/* Rate limits of a script: writes per minute and log lines per second.
 * Owner: the script that embeds it. On the engine thread. */
#pragma once
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
/* Counts a write by `verb`. Returns false and sets err to ERR_LIMIT with the limit, its value and the time
 * until there is room if there were too many. */
bool throttle_write(struct script *script, const char *verb, struct err *err);
/* Counts a log line. Returns false if it is to be omitted; a later line reports how many were. */
bool throttle_log_line(struct script *script);
