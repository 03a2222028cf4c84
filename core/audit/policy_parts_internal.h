/* What the two files of policy_parts.h share: policy_parts.c gathers and divides, policy_part_text.c writes a
 * document. Owner: policy_parts.c. */
#pragma once
#include "audit/policy_parts.h"
#include "object/value.h"

enum {
    RESULTS_BYTES = POLICY_REPORT_BYTES - POLICY_REST_BYTES,
    FILL_BYTES = RESULTS_BYTES / 4 * 3, /* that a document is planned for: escapes are not counted */
    RESULT_BYTES = 400,                 /* of a result without its texts */
};

/* What a rule says of an object, unless it is a pass. Until the documents are divided it is borrowed; what is
 * shown is copied then. */
struct said {
    const struct asked_rule *asked;
    const struct audit_rule *rule; /* its copy */
    struct root *object;
    struct findings *findings;
    enum verdict verdict;
    uint64_t hash; /* of the object */
    size_t bytes;  /* about */
};

struct policy_parts {
    struct policy_parts_options options;
    struct said *items; /* by their documents */
    size_t used, cap;
    size_t passes;
    size_t count; /* of documents */
    size_t first[POLICY_PARTS_MAX], fits[POLICY_PARTS_MAX];
    size_t left_out[POLICY_PARTS_MAX]; /* results of what does not fit */
    struct audit_rule **rules;
    size_t rule_count;
    struct buf scratch;
};

/* The rows that have a result, from `*at` and `*begun` zero on; false behind the last. */
bool said_next_row(const struct said *said, size_t *at, bool *begun, struct audit_row *row);
