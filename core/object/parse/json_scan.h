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

/* Start with a zeroed struct at the opening brace or bracket. Returns the place behind the closing one, or
 * NULL when these bytes do not hold it. */
const char *json_scan(struct json_scan *scan, const char *p, const char *end);

/* --- Finds the end of a JSON object in a stream of bytes, and says at once when they can be none. For text
 * that is known to be JSON json_scan is faster. Owner: the struct is the caller's and holds only state; start
 * with a zeroed one. May be called anywhere. Only the grammar of brackets, commas, colons and strings is
 * looked at; what numbers and words are worth is left to the parser. */

enum { JSON_WALK_DEPTH_MAX = 2048 }; /* more than the parser takes */

struct json_walk {
    uint8_t expects; /* enum in json_scan.c */
    bool is_key, escaped;
    unsigned depth;
    uint64_t arrays[JSON_WALK_DEPTH_MAX / 64]; /* bit d: the container at depth d is an array */
};

/* Returns the place behind the object's end, or NULL: with `*wrong` set to the first byte that cannot be, or
 * to NULL when these bytes do not hold the end. */
const char *json_walk(struct json_walk *walk, const char *p, const char *end, const char **wrong);
