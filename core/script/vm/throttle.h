/* What a script may do so often only: writes in a minute, lines of the log in a second.
 * Owner: the script that embeds it. On the engine thread. */
#pragma once
#include "base/clock.h"
#include "base/err.h"
#include "base/series/series.h"
#include "script/vm/limits.h"
#include "script/vm/rate.h"

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
