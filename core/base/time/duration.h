/* Durations as users write them: "90s", "500ms", "1h30m", or a number of seconds. Owner: stateless. May be
 * used anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* About 31,000 years: sums of a few of them and of times since the epoch fit. */
#define DURATION_MAX_MS INT64_C(1000000000000000)

/* Digits with an optional fraction, then ns, us, ms, s, m or h, as often as wanted (Go's form, C-13), or d
 * for 24 hours; a bare number is seconds. What is finer than a millisecond is rounded up, so that a short
 * wait is never none. False for anything else, a sign or more than DURATION_MAX_MS. */
bool duration_parse_ms(struct str text, int64_t *out);
/* Likewise for a number of seconds: returns false if it is negative, not a number or too large. */
bool duration_from_seconds(double seconds, int64_t *out_ms);
