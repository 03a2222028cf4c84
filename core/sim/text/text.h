/* Finds single values in JSON text without parsing the rest: the store keeps its objects as text.
 * Owner: slices are borrowed from the text, which must be valid JSON without blanks between tokens.
 * May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Walks the members of an object, or the elements of an array, in their order. */
struct sim_members {
    const char *at, *end;
};

/* Opens a container; returns false if `json` is neither an object nor an array. */
bool sim_members_open(struct str json, struct sim_members *members);
/* `key` is without its quotes, escapes left as they are; empty for an element. */
bool sim_members_next(struct sim_members *members, struct str *key, struct str *value);

/* Finds the value of one member; `value` keeps its quotes if it is a string. */
bool sim_text_member(struct str object, const char *key, struct str *value);
/* Returns the content of a string value, "" for every other value. */
struct str sim_text_unquote(struct str value);

/* --- Texts as 64-bit numbers, in the way of the API server's strconv.
 * Owner: nobody. May be called anywhere. */

/* Parses an optional sign and decimal digits, the complete string, no blanks; returns false if it is not a
 * number or does not fit. */
bool sim_parse_int64(const char *text, int64_t *out);
