/* The rules of a test's cluster by which requests go wrong; see struct test_fault.
 * Owner: the cluster. */
#pragma once
#include <sys/queue.h>

#include "app/inside/inside.h"

struct test_fault_rule {
    TAILQ_ENTRY(test_fault_rule) link;
    struct test_fault fault; /* with texts of its own */
    bool met;
};

struct test_faults {
    TAILQ_HEAD(, test_fault_rule) rules;
};

void test_faults_init(struct test_faults *faults);
void test_faults_add(struct test_faults *faults, const struct test_fault *fault);
void test_faults_clear(struct test_faults *faults);

/* What becomes of one request: the sum of its delays, and the first error. */
struct test_outcome {
    int code, retry_after_s;
    char *reason, *message; /* owned */
    int64_t delay_ms;
};

/* Counts the rules that a request meets; those that are used up are gone. `content_type` may be NULL. */
void test_faults_meet(struct test_faults *faults, const struct sim_inside_about *about,
                      const char *content_type, struct test_outcome *outcome);
bool test_faults_has_unmet(const struct test_faults *faults, int id);
void test_outcome_clear(struct test_outcome *outcome);
