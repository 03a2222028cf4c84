/* Makes of the fixes of rules what is to be done about an object. Several rules may fail for one, and a merge
 * patch replaces lists whole: patches side by side would undo each other. So each rule's fix is asked of the
 * object as the fixes before it leave it, and the patch is what differs in the end.
 * Owner: whoever runs the audit; all that the options name is borrowed, and outlives it. On the thread of the
 * scripts and of the pool, outside of any call into them. */
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
    struct baseline *known;    /* what nothing is done about; NULL: nothing */
    struct audit_fixes *fixes; /* gets what is to be done */
};

struct fixer *fixer_new(const struct fixer_options *options);
void fixer_free(struct fixer *fixer);

/* A rule that failed for an object: `script_rule(script, number)`, which the table has as `rule`. What it
 * said of the object is the rows from `first_row` up to the last one of the table. */
struct fixer_failure {
    struct script *script;
    size_t number;
    uint32_t rule;
    size_t first_row;
};

/* An object; borrowed until fixer_end. */
void fixer_begin(struct fixer *fixer, struct root *object);
/* Asks for the fix. False with an error that names the rule, when it raises, or makes no object of it, or
 * another one. */
bool fixer_add(struct fixer *fixer, const struct fixer_failure *failure, struct err *err);
/* Asks the rules again of what has become of the object, and writes the patch down. */
void fixer_end(struct fixer *fixer);
