/* Findings of a rule for one object in one block of memory, which can be compared as a unit. Owner: the
 * caller of findings_new, which calls free(). On any one thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "script/rules/rule.h"

struct findings;

/* Appends a finding to the gathered ones. */
void findings_gather(struct buf *gathered, const struct rule_finding *finding, bool accepted);
/* Returns NULL if no finding was gathered. */
struct findings *findings_new(const struct buf *gathered);
/* NULL has 0 bytes, and equals only NULL. */
size_t findings_bytes(const struct findings *findings);
bool findings_equal(const struct findings *a, const struct findings *b);
/* Iterates the findings, from `*at` 0; returns false at the end. Strings borrow from the block. */
bool findings_next(const struct findings *findings, size_t *at, struct rule_finding *out, bool *accepted);
