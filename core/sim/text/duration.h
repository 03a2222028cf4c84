/* Durations and sizes in scenarios.
 * Owner: none. May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Reads a number of seconds, or a string such as "1.5s", "250ms", "2m". */
bool sim_duration_read(const json_t *value, int64_t *ms);
/* Reads a number of bytes, or a string such as "64Ki", "9Mi". */
bool sim_size_read(const json_t *value, size_t *bytes);
