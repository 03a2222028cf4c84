/* Texts as 64-bit numbers, in the way of the API server's strconv.
 * Owner: nobody. May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* An optional sign and decimal digits, the whole text, no blanks; false when it is none or does not fit. */
bool sim_parse_int64(const char *text, int64_t *out);
