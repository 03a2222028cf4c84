/* Finds the end of a JSON object or array in a stream of bytes, without looking at what is in it.
 * Owner: the struct is the caller's and holds only state. May be called anywhere.
 * Where the end lies depends on the bytes alone, not on how they were cut into stretches. Text that is no
 * JSON ends somewhere too: its parser will say what is wrong. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_scan {
    size_t depth;        /* containers that are open */
    uint64_t in_string;  /* all ones inside a string */
    uint64_t is_escaped; /* 1 when the next byte follows a backslash */
};

/* Start with a zeroed struct at the opening brace or bracket. Gives the place behind the closing one, or NULL
 * when these bytes do not hold it. */
const char *json_scan(struct json_scan *scan, const char *p, const char *end);
