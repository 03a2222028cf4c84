/* Evaluates the rules of scripts on objects, one after the other, and records the results. An object's owner
 * may have accepted a finding (suppression.h), which is skipped then, with the reason. Owner: the runner of
 * the audit; scripts, catalogue and table are borrowed and outlive it. On the thread of the scripts, outside
 * of any call into them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/found/table.h"
#include "audit/rules/suppression_limits.h"
#include "kube/kinds/resource.h"
#include "script/generation/script.h"

struct auditor;
struct fixer;
struct selector;

struct auditor_options {
    struct script *const *scripts; /* loaded; started or not */
    size_t script_count;
    const struct catalogue *catalogue; /* what the names of kinds mean */
    struct audit_table *table;         /* gets the rules, in the order of the scripts */
    int64_t now_s;                     /* since 1970: what accepted findings expire by */
    bool fixes;                        /* rows of failures have the patch of the rule's `fix` */
    /* Names of fields of a kind that rules are let ask for, beyond those in their code, before all of an
     * object is kept: each costs that one is packed again. */
    size_t missed_max;
    struct suppression_limits limits;
    const struct selector *selector; /* objects whose labels do not match are not audited; NULL: all are */
    struct fixer *fixer;             /* combines the fixes of all rules; NULL: none */
};

/* An object and where it is from. */
struct audit_subject {
    struct root *object;
    struct str file; /* empty: from a cluster */
    size_t line;     /* 0: not known */
    /* Projection that the object was packed by; NULL: complete. `again` packs it by another one, or
     * completely: a new reference, or NULL, which it reports, if a part that was not read before is
     * malformed. */
    const struct projection *projection;
    struct root *(*again)(void *ctx, const struct projection *projection);
    void *ctx;
};

/* NULL with ERR_INVALID when two scripts have a rule of the same id: both places are named. */
struct auditor *auditor_new(const struct auditor_options *options, struct err *err);
void auditor_free(struct auditor *auditor);
/* Returns whether a rule matches objects of that type, in some namespace. */
bool auditor_wants(struct auditor *auditor, struct str api_version, struct str kind);
/* Returns whether an object of a type that `kind` means, as a rule gives it, was evaluated, or its type
 * looked up. */
bool auditor_has_seen(const struct auditor *auditor, struct str kind);
/* Excludes a rule, by its number in the table, with the reason. */
void auditor_leave_out(struct auditor *auditor, uint32_t rule, const char *reason);
bool auditor_leaves_out(const struct auditor *auditor, uint32_t rule);
/* Returns the fields that rules read of objects of that type, as far as they are known by now; NULL:
 * everything. Valid until the end. */
const struct projection *auditor_projection(struct auditor *auditor, struct str api_version, struct str kind);
/* Outcome for an object: only the last one counts as evaluated. */
enum auditor_outcome {
    AUDITOR_NO_RULE_MATCHES,
    AUDITOR_NOT_SELECTED, /* rules match such objects, but not at one with its labels */
    AUDITOR_EVALUATED,
};
/* Evaluates all matching rules. */
enum auditor_outcome auditor_audit(struct auditor *auditor, const struct audit_subject *subject);
