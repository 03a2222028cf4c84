/* Finds the end of a JSON object or array in a stream of bytes, without reading its content. Owner: the
 * struct is the caller's and holds only state. May be called anywhere. The end depends on the bytes alone,
 * not on how they were split. Text that is not JSON ends somewhere too: its parser reports the error. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_scan {
    size_t depth;        /* containers that are open */
    uint64_t in_string;  /* all ones inside a string */
    uint64_t is_escaped; /* 1 when the next byte follows a backslash */
};

/* Scans; start with a zeroed struct at the opening brace or bracket. Returns the position after the closing
 * one, or NULL if these bytes do not contain it. */
const char *json_scan(struct json_scan *scan, const char *p, const char *end);

/* --- Finds the end of a JSON object in a stream of bytes, and reports at once if they cannot be one.
 * json_scan is faster for text that is known to be JSON. Owner: the struct is the caller's and holds only
 * state; start with a zeroed one. May be called anywhere. Only the grammar of brackets, commas, colons and
 * strings is checked, and beyond the depth only that of strings; numbers, words and control characters in
 * strings are left to the parser. */

enum { JSON_WALK_DEPTH_MAX = 2048 }; /* more than the parser takes */

struct json_walk {
    uint8_t expects; /* enum in json_scan.c */
    bool is_key, escaped;
    bool takes_lines; /* a line end in a string is not invalid: no text ends with the line */
    unsigned depth;
    size_t deep;                               /* containers that are open beyond the deepest */
    uint64_t arrays[JSON_WALK_DEPTH_MAX / 64]; /* bit d: the container at depth d is an array */
};

/* Returns the position after the object's end, or NULL: with `*wrong` set to the first invalid byte, or to
 * NULL if these bytes do not contain the end. */
const char *json_walk(struct json_walk *walk, const char *p, const char *end, const char **wrong);
