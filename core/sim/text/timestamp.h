/* Times of the API as JSON, and ages as people read them.
 * Owner: the caller has what is given.
 * May be called anywhere. */
#pragma once
#include <stdint.h>

#include <jansson.h>

enum { SIM_AGE_MAX = 32 };

/* "2026-01-02T03:04:05Z"; a new reference. */
json_t *sim_time(int64_t seconds);
/* "5m10s", "3d4h": two or three figures, as kubectl shows them; "<invalid>" for the future. */
void sim_age_format(int64_t seconds, char out[static SIM_AGE_MAX]);
/* How long before `now_s` the time in `text` is; "<unknown>" when `text` is not a time. A new reference. */
json_t *sim_age(const char *text, int64_t now_s);
