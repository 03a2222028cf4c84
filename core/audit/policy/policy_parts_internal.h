/* Internals of policy_parts.h, shared by its files: policy_gather.c takes results in, policy_parts.c divides
 * them and writes the documents. Owner: policy_parts.c. */
#pragma once
#include "audit/policy/policy_parts.h"
#include "object/value/value.h"

enum {
    RESULTS_BYTES = POLICY_REPORT_BYTES - POLICY_OVERHEAD_BYTES,
    FILL_BYTES = RESULTS_BYTES / 4 * 3, /* that a document is planned for: escapes are not counted */
    RESULT_BYTES = 400,                 /* of a result without its texts */
};

/* Result of a rule for an object, unless it is a pass. */
struct rule_output {
    const struct audit_rule *rule; /* of the parts */
    struct root *object;           /* a reference */
    struct findings *findings;     /* a copy; NULL: the verdict alone is known */
    enum verdict verdict;
    uint64_t hash;  /* of the object */
    size_t bytes;   /* about */
    size_t results; /* how many */
};

/* Results of the objects whose hashes end alike: a heap whose first item is the first to be omitted. A bucket
 * holds no more than one document has room for. */
struct bucket {
    struct rule_output *items;
    size_t used;
    size_t bytes;    /* of the items */
    size_t all;      /* bytes, with what was left out */
    size_t left_out; /* results */
};

struct policy_parts {
    struct policy_parts_options options;
    struct bucket buckets[POLICY_PARTS_MAX]; /* a document has one, or those whose numbers have one end */
    struct audit_rule **rules;
    size_t rule_count;
    struct buf scratch;
    size_t passes;
    size_t count; /* of documents; 1 as soon as there is something to tell */

    /* The document that is at hand, as it is shown: what it has room for, and how many results it has not. */
    size_t at; /* its number plus one */
    const struct rule_output **shown;
    size_t shown_count, left_out;
};

/* --- policy_gather.c */

void parts_take_in(void *ctx, const struct continuous_result *result);
void parts_forget(struct policy_parts *parts);
/* Below 0: `a` goes before `b` when there is no room for both. */
int rule_output_compare(const struct rule_output *a, const struct rule_output *b);
/* The rows that have a result, from `*at` and `*begun` zero on; false behind the last. */
bool rule_output_next_row(const struct rule_output *output, size_t *at, bool *begun, struct audit_row *row);

/* --- policy_parts.c */
