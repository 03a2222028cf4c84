/* Internals of policy_parts.h, shared by its files: policy_gather.c gathers results, policy_parts.c divides
 * them and writes the documents. Owner: policy_parts.c. */
#pragma once
#include "audit/policy/policy_parts.h"
#include "object/value/value.h"

enum {
    RESULTS_BYTES = POLICY_REPORT_BYTES - POLICY_OVERHEAD_BYTES,
    FILL_BYTES = RESULTS_BYTES / 4 * 3, /* planned size of a document: escapes are not counted */
    RESULT_BYTES = 400,                 /* of a result without its strings */
};

/* Result of a rule for an object that is not a pass. */
struct rule_output {
    const struct audit_rule *rule; /* of the parts */
    struct root *object;           /* a reference */
    struct findings *findings;     /* a copy; NULL: only the verdict is known */
    enum verdict verdict;
    uint64_t hash;  /* of the object */
    size_t bytes;   /* about */
    size_t results; /* number of results */
};

/* Results of objects whose hashes end alike: a heap with the first candidate for omission on top. A bucket
 * never exceeds the room of one document. */
struct bucket {
    struct rule_output *items;
    size_t used;
    size_t bytes;    /* of the items */
    size_t all;      /* bytes including omitted ones */
    size_t left_out; /* omitted results */
};

struct policy_parts {
    struct policy_parts_options options;
    struct bucket buckets[POLICY_PARTS_MAX]; /* a document has one, or all those whose numbers end alike */
    struct audit_rule **rules;
    size_t rule_count;
    struct buf scratch;
    size_t passes;
    size_t count; /* documents; at least 1 once there is something to report */

    /* Current document: shown results, and the number of omitted ones. */
    size_t at; /* its number plus one */
    const struct rule_output **shown;
    size_t shown_count, left_out;
};

/* --- policy_gather.c */

void parts_take_in(void *ctx, const struct continuous_result *result);
void parts_forget(struct policy_parts *parts);
/* Compares two results: below 0 if `a` is omitted before `b`. */
int rule_output_compare(const struct rule_output *a, const struct rule_output *b);
/* Iterates rows that have a result, from `*at` and `*begun` zero on; returns false after the last. */
bool rule_output_next_row(const struct rule_output *output, size_t *at, bool *begun, struct audit_row *row);

/* --- policy_parts.c */
