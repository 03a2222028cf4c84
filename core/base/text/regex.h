/* Regular expressions of PCRE2 that end: a search counts its steps and has little memory, so that a pattern
 * such as (a+)+$ is an error and no stall. Owner: the caller of regex_new. A compiled one may be used by one
 * thread at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
    REGEX_PATTERN_MAX = 4096, /* bytes */
    REGEX_CAPTURES_MAX = 32,
    REGEX_STEPS_MAX = 10000000, /* of one search */
    REGEX_HEAP_KIB = 16384,     /* of one search */
};

struct regex;

/* Compiles a pattern of UTF-8. NULL with ERR_INVALID, which has the offset of what is wrong. */
struct regex *regex_new(struct str pattern, struct err *err);
void regex_free(struct regex *regex);
/* Returns its memory in bytes. */
size_t regex_size(const struct regex *regex);
size_t regex_captures(const struct regex *regex);

/* Bytes of the text; `begin` is REGEX_UNSET for a capture that took no part. */
#define REGEX_UNSET SIZE_MAX
struct regex_span {
    size_t begin, end;
};

enum regex_end { REGEX_FOUND, REGEX_NONE, REGEX_STOPPED, REGEX_FAILED };

struct regex_search {
    struct str text;
    bool is_utf8; /* the text is; else it is searched by bytes */
    size_t from;
    const volatile bool *stop;                       /* ends the search once it is true; NULL: never */
    struct regex_span spans[1 + REGEX_CAPTURES_MAX]; /* of the match, then of the captures */
};

/* Searches the text from an offset on. REGEX_FAILED sets ERR_LIMIT, or ERR_INVALID for a pattern that cannot
 * be searched for by bytes. */
enum regex_end regex_find(struct regex *regex, struct regex_search *search, struct err *err);
/* Returns whether all of the text is UTF-8. */
bool regex_is_utf8(struct str text);
