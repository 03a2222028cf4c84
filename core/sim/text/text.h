/* Finds single values in JSON text without parsing the rest: the store keeps its objects as text.
 * Owner: slices are borrowed from the text, which must be valid JSON without blanks between tokens.
 * May be called anywhere. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Reads all of a text once. */
struct sim_reader {
    const char *at, *end; /* `at`: the next value, or what is behind it */
    bool is_bad;          /* the text is not such JSON: `at` is at its end */
    const char *skipped;  /* a value that sim_read_stored takes for an empty list; NULL: none */
};

/* Steps to the next member or element of the container whose opening bracket was read; false behind its end.
 * `key` is without its quotes, escapes left as they are; NULL in an array. */
bool sim_reader_next(struct sim_reader *in, char close, struct str *key);
/* Steps over a value, and returns it. */
struct str sim_reader_take(struct sim_reader *in);
/* Appends what stands between the quotes of a string, its escapes resolved. */
void sim_text_unescape(struct buf *out, struct str quoted);

/* Walks the members of an object, or the elements of an array, in their order. */
struct sim_members {
    struct sim_reader in;
    char close;
};

/* Opens a container; returns false if `json` is neither an object nor an array. */
bool sim_members_open(struct str json, struct sim_members *members);
/* `key` is without its quotes, escapes left as they are; empty for an element. */
bool sim_members_next(struct sim_members *members, struct str *key, struct str *value);

/* Finds the value of one member; `value` keeps its quotes if it is a string, and is as it was if there is
 * none. */
bool sim_text_member(struct str object, const char *key, struct str *value);
/* Returns the content of a string value, "" for every other value. */
struct str sim_text_unquote(struct str value);

/* --- Texts as 64-bit numbers, in the way of the API server's strconv.
 * Owner: nobody. May be called anywhere. */

/* Parses an optional sign and decimal digits, the complete string, no blanks; returns false if it is not a
 * number or does not fit. */
bool sim_parse_int64(const char *text, int64_t *out);
