/* The kinds that rules name, and whether there may be such: a name that nobody can have is a mistake, which
 * must not look like a cluster without such objects. Owner: nothing is kept. Any thread. */
#pragma once
#include <stdbool.h>

#include "app/audit_scripts.h"

/* Whether a server may have the kind, or do without it: one of Kubernetes' own, as servers differ by their
 * age, or a custom one, which has a group. */
bool audit_kind_may_be(struct str kind);
/* Once the caches are filled: rules that use what is not in one are not asked, as they would find what is not
 * so. `of_files`: an input that has none of a kind that may be is an empty cache of it. Gives how many there
 * are. */
size_t audit_kinds_leave_out(const struct audit_scripts *scripts, bool of_files);
/* Tells on stderr, with the place of the rule, each kind that may not be and that nothing the auditor has
 * seen is of. False when there was one. */
bool audit_kinds_check(const struct audit_scripts *scripts);
