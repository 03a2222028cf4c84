/* How often something happened lately: a count that slides over a period, in a fixed amount of memory.
 * Owner: who embeds it. No clock of its own; may be used anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

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
