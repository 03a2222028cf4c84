/* Known findings: an earlier output of `kubelua audit -o json`, so that only new ones are reported. Each has
 * a fingerprint (finding_key.h), and hides one equal finding. Reports from before fingerprints are compared
 * by rule, object and path. Owner: the command. Reads a file: for commands only. */
#pragma once
#include "audit/found/table.h"
#include "base/err.h"

struct baseline;

/* Returns NULL with an error that names the file. */
struct baseline *baseline_read(const char *path, struct err *err);
void baseline_free(struct baseline *baseline);
/* Returns the number of its findings without a fingerprint. */
size_t baseline_old_count(const struct baseline *baseline);
/* Starts counting again: no entry is used up. */
void baseline_begin(struct baseline *baseline);
/* Returns whether the baseline has the finding, and uses up one entry for it. */
bool baseline_takes(struct baseline *baseline, const struct audit_rule *rule,
                    const struct audit_object *object, const struct audit_row *row);
/* Hides known findings in the table. Call once, before any sorting. */
void baseline_hide(struct baseline *baseline, struct audit_table *table);
