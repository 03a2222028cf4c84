/* Internals shared by auditor.c, which has rules, kinds and objects, and auditor_evaluate.c, one rule and one
 * object. Owner: the auditor. On the thread of the scripts. */
#pragma once
#include "audit/rules/auditor.h"
#include "audit/rules/evaluation.h"
#include "audit/rules/fields.h"
#include "audit/rules/rule_kinds.h"
#include "base/buf.h"

struct auditor {
    struct auditor_options options;
    struct rule_ref *rules; /* by their numbers in the table */
    bool *left_out;         /* as `rules` */
    size_t count;
    struct rule_kinds *kinds;
    struct buf message, place, fix; /* of the row that is being written */
};

/* The object of a subject, as it is packed by now. */
struct packed {
    const struct audit_subject *subject;
    struct fields *fields;
    const struct projection *projection; /* NULL: it is whole */
    struct root *object;
    struct root *own; /* the same, when it was packed again: a reference */
};

/* Has the table count what the rule of that number says of the object, which is packed again as often as it
 * takes. False when it cannot be: there is nothing to ask about any more. */
bool auditor_evaluate(struct auditor *auditor, uint32_t number, struct packed *packed);
