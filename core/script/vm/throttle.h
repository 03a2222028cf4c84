/* What a script may do so often only: writes in a minute, lines of the log in a second.
 * Owner: the script that embeds it. On the engine thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/series/series.h"
#include "script/vm/limits.h"

/* --- How often something happened lately: a count that slides over a period, in a fixed amount of memory.
 * Owner: who embeds it. No clock of its own; may be used anywhere. */

enum { RATE_SLOTS = 50 };

/* All zero is a count of nothing. */
struct rate {
    uint32_t counts[RATE_SLOTS]; /* a ring; each slot is a fiftieth of the period */
    uint64_t total;
    int64_t newest; /* the slot of now, counted from the clock's beginning */
};

/* Counts one more, unless there were `most` within the period already: false then, and `*wait_ms` is how long
 * it takes until there is room again. */
bool rate_take(struct rate *rate, int64_t now_ms, int64_t period_ms, int64_t most, int64_t *wait_ms);

/* --- throttle */

struct script;

struct throttle {
    struct rate writes, log_lines;
    uint64_t left_out;             /* lines, since the log told of some */
    struct timer note;             /* runs while there are some */
    struct series *left_out_total; /* made with the first */
};

/* For script.c. */
void throttle_init(struct script *script);
void throttle_clear(struct script *script);
/* One more write, by `verb`. False when there were too many: ERR_LIMIT with the limit and its value, and with
 * the time after which there is room again. */
bool throttle_write(struct script *script, const char *verb, struct err *err);
/* One more line of the log. False when it is to be left out; it was counted then, and a line will tell of it.
 */
bool throttle_log_line(struct script *script);
