/* Combines the fixes of rules for an object. Several rules may fail for one object, and a merge patch
 * replaces complete lists: patches side by side would undo each other. So each rule fixes the object as the
 * fixes before it left it, and the patch is the difference at the end. Owner: the runner of the audit;
 * options are borrowed and outlive it. On the thread of the scripts and of the pool, outside of any call into
 * them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "audit/fix/fixes.h"
#include "audit/found/baseline.h"
#include "audit/found/table.h"
#include "object/pack/pool.h"
#include "script/rules/rule.h"

struct fixer;

struct fixer_options {
    struct pool *pool; /* of the objects */
    const struct catalogue *catalogue;
    struct audit_table *table; /* its rows get the fixes */
    struct baseline *known;    /* baseline to leave alone; NULL: none */
    struct audit_fixes *fixes; /* gets what is to be done */
};

struct fixer *fixer_new(const struct fixer_options *options);
void fixer_free(struct fixer *fixer);

/* Adds a rule that failed for an object: `script_rule(script, number)`, which is `rule` in the table. Its
 * rows start at `first_row` and end with the table. */
struct fixer_failure {
    struct script *script;
    size_t number;
    uint32_t rule;
    size_t first_row;
};

/* An object; borrowed until fixer_end. */
void fixer_begin(struct fixer *fixer, struct root *object);
/* Calls the fix. Returns false and sets err, which names the rule, if it raises or returns no object or
 * another one. */
bool fixer_add(struct fixer *fixer, const struct fixer_failure *failure, struct err *err);
/* Evaluates the rules again on the fixed object, and records the patch. */
void fixer_end(struct fixer *fixer);
