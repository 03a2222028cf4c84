/* Findings that an object's owner has accepted by the annotation `kubelua/ignore.RULE`, with the value
 * "until=2027-01-31 reason". The day is the last one on which it counts, in UTC; without one it counts for
 * good. A reason is required, and what only looks like a day is an error. Owner: stateless; strings borrow
 * from the object and from `text`. Any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "object/value/value.h"

/* Prefix of a rule's id, whose length the limit of an annotation's name bounds. */
#define SUPPRESSION_PREFIX "kubelua/ignore."
enum { SUPPRESSION_RULE_MAX = 63 - (sizeof "ignore." - 1) };

enum suppression {
    SUPPRESSION_NONE,
    SUPPRESSION_VALID,
    SUPPRESSION_EXPIRED,  /* the finding counts again */
    SUPPRESSION_BAD_DATE, /* the finding counts, here and below */
    SUPPRESSION_NO_REASON,
};

struct suppressed {
    struct str until;  /* "2027-01-31"; empty: for good; of a bad date the words that should have been one */
    struct str reason; /* empty when there is none */
    int64_t day;       /* the date, since 1970; INT64_MAX: for good, or a bad date */
};

/* `now_s` are seconds since 1970. */
enum suppression suppression_of(const struct root *object, struct str rule, int64_t now_s, struct text *text,
                                struct suppressed *out);
/* Returns the id in such an annotation that is nearly `rule` and that no rule has; empty: there is none. */
struct str suppression_misspelt(const struct root *object, const char *rule,
                                bool (*is_rule)(void *ctx, struct str id), void *ctx, struct text *text);
