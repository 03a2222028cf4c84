/* Findings of a rule for one object in one block of memory, which can be compared as a unit. Owner: the
 * caller of findings_new, who calls free(). On any one thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "script/rules/rule.h"

struct findings;

/* Appends a finding to what is being gathered. */
void findings_gather(struct buf *gathered, const struct rule_finding *finding, bool accepted);
/* NULL when nothing was gathered. */
struct findings *findings_new(const struct buf *gathered);
/* Of NULL 0, and that is equal to itself alone. */
size_t findings_bytes(const struct findings *findings);
bool findings_equal(const struct findings *a, const struct findings *b);
/* Each in turn, from `*at` 0 on; false behind the last. Texts borrow from the block. */
bool findings_next(const struct findings *findings, size_t *at, struct rule_finding *out, bool *accepted);
