/* Times of the API: RFC 3339 texts, and ages as people read them.
 * Owner: nobody; what is given is written into the caller's memory.
 * May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { SIM_TIME_MAX = 32, SIM_AGE_MAX = 32 };

/* "2026-01-02T03:04:05Z" */
void sim_time_format(int64_t seconds, char out[static SIM_TIME_MAX]);
/* Fractions are cut off; offsets from UTC are understood. */
bool sim_time_parse(const char *text, int64_t *seconds);
/* "5m10s", "3d4h": two or three figures, as kubectl shows them; "<invalid>" for the future. */
void sim_age_format(int64_t seconds, char out[static SIM_AGE_MAX]);
/* Writes how long before `now_s` the time in `text` is; "<unknown>" when `text` is not a time. */
void sim_age(const char *text, int64_t now_s, char out[static SIM_AGE_MAX]);
