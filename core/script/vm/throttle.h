/* Rate limits of a script: writes per minute and log lines per second.
 * Owner: the script that embeds it. On the engine thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/series/series.h"
#include "script/vm/parts.h"

/* --- Rate of recent events: a count that slides over a period, in a fixed amount of memory.
 * Owner: who embeds it. No clock of its own; may be used anywhere. */

/* Counts one more, unless there were `most` within the period already: false then, and `*wait_ms` is how long
 * it takes until there is room again. */
bool rate_take(struct rate *rate, int64_t now_ms, int64_t period_ms, int64_t most, int64_t *wait_ms);

/* --- throttle */

struct script;

/* For script.c. */
void throttle_init(struct script *script);
void throttle_clear(struct script *script);
/* One more write, by `verb`. False when there were too many: ERR_LIMIT with the limit and its value, and with
 * the time after which there is room again. */
bool throttle_write(struct script *script, const char *verb, struct err *err);
/* One more line of the log. False when it is to be left out; it was counted then, and a line will tell of it.
 */
bool throttle_log_line(struct script *script);
