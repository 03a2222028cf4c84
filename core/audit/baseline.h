/* Findings that are known: what `kubelua audit -o json` printed some time ago, so that only new ones are
 * told. A finding is known again by its rule, its object's kind, namespace and name, and its path; not by its
 * message, which may have a number in it.
 * Owner: the command. Reads a file: for commands only. */
#pragma once
#include "audit/table.h"
#include "base/err.h"

struct baseline;

/* NULL with an error that names the file. */
struct baseline *baseline_read(const char *path, struct err *err);
void baseline_free(struct baseline *baseline);
bool baseline_knows(const struct baseline *baseline, const struct audit_rule *rule,
                    const struct audit_object *object, const struct audit_row *row);
/* Hides them in the table; once, before any sorting. */
void baseline_hide(const struct baseline *baseline, struct audit_table *table);
