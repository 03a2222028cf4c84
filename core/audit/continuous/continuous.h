/* Continuous audits: each rule is evaluated for each object of its kinds, and again when the object or a
 * dependency changes. A cell for each rule and object stores the result, and the findings of results that are
 * not passes.
 *
 * Rules are evaluated in slices of a few milliseconds, one object of each kind in turn, so that events wait
 * no longer than a slice, or one call of a rule. An object that changes often while queued is evaluated once.
 * Owner: the engine, on its thread; pass scripts to continuous_take before they are freed. Callbacks may not
 * call back. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/rules/evaluation.h"
#include "base/clock.h"

struct continuous_audit;
struct findings;

enum {
    CONTINUOUS_DEPENDENCIES_MAX = 2000000,
    CONTINUOUS_FINDING_BYTES_MAX = 128 << 20,
    /* Longest time that an untracked rule lags behind its dependencies. */
    CONTINUOUS_UNTRACKED_MS = 10000,
};

struct continuous_options {
    struct clock *clock;
    /* Limit of dependencies that are recorded at a time. A rule that exceeds it becomes untracked: all of its
     * objects are evaluated again whenever anything it may look up changes. */
    size_t max_dependencies;
    /* Memory limit of findings. Beyond it only results are stored. */
    size_t max_finding_bytes;
    struct suppression_limits limits;
    /* Called when results of a namespace have changed, "" for objects without one. NULL: not called. */
    void (*changed)(void *ctx, struct str ns);
    void *ctx;
    int64_t (*now_ns)(void); /* measures slices; NULL: clock_measure_ns */
};

struct continuous_audit *continuous_new(const struct continuous_options *options);
/* NULL is allowed. */
void continuous_free(struct continuous_audit *audit);

/* Replaces `before` by `now`; either may be NULL. Results of unchanged rules stay; new rules are evaluated.
 * Call after the script has started and before `before` is freed, outside of any call. */
void continuous_take(struct continuous_audit *audit, struct script *before, struct script *now);
/* Checks rules that wait for their caches. Call when a claim has synced. */
void continuous_claims_changed(struct continuous_audit *audit);
/* Starts or stops evaluation; a new audit is active. While inactive, nothing is known and nothing shown. */
void continuous_set_active(struct continuous_audit *audit, bool active);

struct continuous_status {
    bool active;
    size_t rules, waiting_rules; /* `waiting_rules`: their caches have not synced */
    size_t untracked_rules;      /* beyond max_dependencies */
    size_t objects, pending;     /* `pending`: queued for evaluation */
    size_t verdicts[VERDICTS];
    size_t lacking_rules;                      /* need a kind that the server does not have */
    size_t incomplete_rules;                   /* use a kind with refused objects: not evaluated */
    size_t quarantined_rules, duplicate_rules; /* `duplicate_rules`: another rule has the id; not evaluated */
    size_t dependencies, finding_bytes, bytes; /* `bytes`: estimate of everything */
    size_t left_out;                           /* results without room for findings */
};
struct continuous_status continuous_status(const struct continuous_audit *audit);

/* Status of a rule; strings are borrowed until something changes. */
struct continuous_rule_status {
    const struct rule_ref *ref;
    bool waits, untracked, quarantined;
    const char *lacks;          /* kinds that the server lacks, joined by ", "; "" */
    bool incomplete;            /* uses a kind with refused objects */
    bool not_evaluated;         /* incomplete, or all of its kinds or one that it uses are lacking */
    const char *duplicate_rule; /* the script that has a rule of the same id, so that this one is not
                                   evaluated; or NULL */
    size_t verdicts[VERDICTS];
    uint64_t errors;                  /* failed calls */
    const char *error, *error_object; /* of the last error; "" */
    int64_t error_us;
};
void continuous_each_rule(const struct continuous_audit *audit,
                          void (*fn)(void *ctx, const struct continuous_rule_status *status), void *ctx);

/* Iterates kinds with objects that the engine refuses: the audit is incomplete. `text` has their number, one
 * of them and the reason. */
void continuous_each_refused(const struct continuous_audit *audit,
                             void (*fn)(void *ctx, const char *kind, const char *text), void *ctx);

/* Result of a rule for an object. */
struct continuous_result {
    const struct rule_ref *ref;
    struct root *object;
    enum verdict verdict;
    const struct findings *findings; /* NULL: only the verdict is known */
};
/* Walk over all results of a namespace ("" for objects without one), in steps between which anything may
 * change. An object that stays is visited once, in its state at that time; one that goes may be missed; one
 * that comes while its kind is being walked is not visited, so that a walk always ends. Owner: the caller of
 * continuous_walk_new, who frees it before the audit. */
struct continuous_walk;
struct continuous_walk *continuous_walk_new(struct continuous_audit *audit, struct str ns);
/* NULL is allowed. */
void continuous_walk_free(struct continuous_walk *walk);
/* Visits results of further objects, until at least `max` results were visited. Returns false at the end. */
bool continuous_walk_on(struct continuous_walk *walk, size_t max,
                        void (*fn)(void *ctx, const struct continuous_result *result), void *ctx);
/* Returns the number of results missing for the objects passed so far because rules were not evaluated yet,
 * for example new rules after a reload. Rules that wait for their caches do not count. */
size_t continuous_walk_unevaluated(const struct continuous_walk *walk);
