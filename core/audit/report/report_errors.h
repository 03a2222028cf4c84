/* Errors that several rules have in common: a malformed pod spec is the same error of each rule that checks
 * containers, which users want to read once. Owner: the caller, which calls report_errors_clear. On any one
 * thread. */
#pragma once
#include "audit/found/table.h"

/* Error that some rules share for one object: rows[first] up to rows[first + rules], in the order of the
 * table. */
struct shared_error {
    size_t first, rules;
};

struct report_errors {
    const struct audit_table *table;
    size_t *rows; /* numbers of rows */
    struct shared_error *items;
    size_t count;
    bool *shared; /* whether each row is part of an item; NULL: none is */
};

/* Finds the errors of a sorted table, which is borrowed. Items with the same rules are adjacent, those of the
 * most rules first. */
void report_errors_init(struct report_errors *errors, const struct audit_table *table);
void report_errors_clear(struct report_errors *errors);
/* Returns the end of the items with the same rules as that one. */
size_t report_errors_end(const struct report_errors *errors, size_t item);
