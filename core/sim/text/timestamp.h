/* Times of the API as JSON, and ages as users read them. Owner: results belong to the caller. May be called
 * anywhere. */
#pragma once
#include <stdint.h>

#include <jansson.h>

enum { SIM_AGE_MAX = 32 };

/* "2026-01-02T03:04:05Z"; a new reference. */
json_t *sim_time(int64_t seconds);
/* "5m10s", "3d4h": two or three figures, as kubectl shows them; "<invalid>" for the future. */
void sim_age_format(int64_t seconds, char out[static SIM_AGE_MAX]);
/* Returns the age of the time in `text` at `now_s`; "<unknown>" if `text` is not a time. A new reference. */
json_t *sim_age(const char *text, int64_t now_s);
