/* Continuous audits: every rule is evaluated for each object of its kinds, and again when the object or a
 * dependency changes. A cell for each rule and object keeps the result, and the findings of those that did
 * not pass.
 *
 * Rules are evaluated in slices of a few milliseconds, one object of each kind after the other, so that
 * events wait no longer than that, or than one call of a rule. However often an object changes while it
 * waits, it is evaluated once. Owner: the engine, on its thread; scripts are told of before they are freed.
 * Callbacks may not call back. */
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
    /* Longest time that a rule with more lookups than that lags behind the objects that it depends on. */
    CONTINUOUS_UNTRACKED_MS = 10000,
};

struct continuous_options {
    struct clock *clock;
    /* Looks at other objects that are known at a time. A rule that takes one more is asked again about all
     * its objects whenever anything that it may look at has changed. */
    size_t max_dependencies;
    /* Limit of the memory of findings. For those beyond it only the result is kept. */
    size_t max_finding_bytes;
    /* Called when results of objects of that namespace have changed, "" for objects without one. NULL: not
     * called. */
    void (*changed)(void *ctx, struct str ns);
    void *ctx;
    int64_t (*now_ns)(void); /* how long slices take is measured by; NULL: clock_measure_ns */
};

struct continuous_audit *continuous_new(const struct continuous_options *options);
/* NULL is allowed. */
void continuous_free(struct continuous_audit *audit);

/* `now` runs where `before` did; either may be NULL. Rules that are the same go on with what they said; what
 * is new is asked. After the script has started, and before `before` is freed. Outside of any call. */
void continuous_take(struct continuous_audit *audit, struct script *before, struct script *now);
/* The cache of a claim has synced: rules may have waited for it. */
void continuous_claims_changed(struct continuous_audit *audit);
/* Rules are asked; when they are not, nothing is known, and nothing shown. They are from the start. */
void continuous_set_active(struct continuous_audit *audit, bool active);

struct continuous_status {
    bool active;
    size_t rules, waiting_rules; /* those whose caches are not there yet */
    size_t untracked_rules;      /* beyond max_lookups */
    size_t objects, pending;     /* that wait to be evaluated */
    size_t verdicts[VERDICTS];
    size_t lacking_rules;    /* need a kind that the server does not have */
    size_t incomplete_rules; /* use a kind of which objects are refused: they are not evaluated */
    size_t quarantined_rules,
        duplicate_rules; /* `duplicate_rules` are not evaluated, as another rule has their id */
    size_t dependencies, finding_bytes, bytes; /* `bytes`: all of it, about */
    size_t left_out;                           /* cells whose findings had no room */
};
struct continuous_status continuous_status(const struct continuous_audit *audit);

/* A rule of the engine's scripts; texts are borrowed until something changes. */
struct continuous_rule_status {
    const struct rule_ref *ref;
    bool waits, untracked, quarantined;
    const char *lacks;  /* kinds that it needs and the server does not have, ", " between them; "" */
    bool incomplete;    /* it uses a kind of which objects are refused */
    bool not_evaluated; /* as that is so, or it uses what the server does not have, or has no other kind */
    const char *duplicate_rule; /* the script that has a rule of the same id, so that this one is not
                                   evaluated; or NULL */
    size_t verdicts[VERDICTS];
    uint64_t errors;                  /* calls that ended with one */
    const char *error, *error_object; /* of the last of them; "" before the first */
    int64_t error_us;
};
void continuous_each_rule(const struct continuous_audit *audit,
                          void (*fn)(void *ctx, const struct continuous_rule_status *status), void *ctx);

/* Each kind of which the server has objects that the engine refuses, and in `text` how many, one of them and
 * why: what is known is not all. */
void continuous_each_refused(const struct continuous_audit *audit,
                             void (*fn)(void *ctx, const char *kind, const char *text), void *ctx);

/* Result of a rule for an object. */
struct continuous_result {
    const struct rule_ref *ref;
    struct root *object;
    enum verdict verdict;
    const struct findings *findings; /* NULL: nothing but the verdict */
};
/* Every result of a namespace, "" for objects without one, in steps. Anything may change from one step to the
 * next: an object that stays is told of once, as it is then; one that goes may be or not, and one that comes
 * is not once its kind is being walked, so that a walk ends however many come. Owner: who began it, who frees
 * it before the audit. */
struct continuous_walk;
struct continuous_walk *continuous_walk_new(struct continuous_audit *audit, struct str ns);
/* NULL is allowed. */
void continuous_walk_free(struct continuous_walk *walk);
/* Looks at what rules say of some objects more, until that is at least `max` results; false when it is over.
 */
bool continuous_walk_on(struct continuous_walk *walk, size_t max,
                        void (*fn)(void *ctx, const struct continuous_result *result), void *ctx);
/* Returns the number of results that are missing for the objects that the walk has passed, because rules were
 * not evaluated yet: after a reload those of a new rule. Rules that wait for their caches are not counted. */
size_t continuous_walk_unevaluated(const struct continuous_walk *walk);
