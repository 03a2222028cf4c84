/* Internals of a part of an audit, shared by its files: audit_part.c has its course and the rules,
 * audit_part_kinds.c the kinds and the caches that they need. Owner: the child; nothing is freed, as the
 * process ends. */
#pragma once
#include "app/audit/audit_children.h"
#include "app/audit/audit_job.h"
#include "audit/found/table.h"
#include "audit/rules/objects.h"
#include "engine/load_host.h"
#include "object/value/selector.h"

struct kind {
    struct resource resource;
    struct informer_claim *cache;   /* NULL: no complete one */
    struct informer_claim *partial; /* then, for informers of scripts; may be NULL too */
    struct buf why;                 /* there is none, or objects are missing from it */
    bool is_incomplete;             /* these are */
    struct buf rules;               /* rules not evaluated for it, "a, b" */
    bool audited, used;
};

struct part {
    const struct audit_child_options *options;
    int fd;
    struct audit_job order;
    const char *ns;
    struct selector *selector; /* of the order */
    struct load_host dry;
    struct script **scripts;
    size_t script_count;
    struct audit_table *table;
    struct auditor *auditor;
    struct audit_objects *objects; /* what rules use */
    struct kind *kinds;
    size_t kind_count;
    struct buf out;
    int64_t reported_ns; /* when something was reported last */
};

/* --- audit_part.c */

/* Reports a reason for an incomplete audit; one that all parts share only from the first part. */
void part_report_problem(struct part *part, const char *text);
/* Sends what scripts print, and notes that are not problems. */
void part_print(void *part, struct str line);

/* --- audit_part.c: the rules */

/* False when something is wrong with the rules, which is reported. */
bool part_load(struct part *part);

/* --- audit_part_kinds.c */

/* Chooses the caches on which rules are evaluated; reports missing kinds, and omits rules that use them. */
void part_prepare_kinds(struct part *part);
bool part_is_in_scope(const struct part *part, const struct kind *kind, const struct root *object);
