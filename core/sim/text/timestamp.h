/* Times of the API as JSON. Owner: the caller has the result. May be called anywhere. */
#pragma once
#include <stdint.h>

#include <jansson.h>

/* "2026-01-02T03:04:05Z"; a new reference. */
json_t *sim_time(int64_t seconds);
