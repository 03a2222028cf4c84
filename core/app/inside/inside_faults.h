/* The rules of a test's cluster by which requests go wrong; see struct spec_fault.
 * Owner: the cluster. */
#pragma once
#include <sys/queue.h>

#include "app/inside/inside.h"

struct spec_fault_rule {
    TAILQ_ENTRY(spec_fault_rule) link;
    struct spec_fault fault; /* with texts of its own */
    bool met;
};

struct spec_faults {
    TAILQ_HEAD(, spec_fault_rule) rules;
};

void spec_faults_init(struct spec_faults *faults);
void spec_faults_add(struct spec_faults *faults, const struct spec_fault *fault);
void spec_faults_clear(struct spec_faults *faults);

/* Outcome of one request: the sum of its delays, and the first error. */
struct spec_outcome {
    int code, retry_after_s;
    char *reason, *message; /* owned */
    int64_t delay_ms;
};

/* Counts the rules that a request meets; those that are used up are gone. `content_type` may be NULL. */
void spec_faults_meet(struct spec_faults *faults, const struct sim_inside_about *about,
                      const char *content_type, struct spec_outcome *outcome);
bool spec_faults_has_unmet(const struct spec_faults *faults, int id);
void spec_outcome_clear(struct spec_outcome *outcome);
