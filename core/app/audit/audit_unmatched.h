/* Objects of files that no rule matches: how many, and on stderr the kinds among them that Kubernetes' own
 * groups do not have, which are misspelt. Owner: whoever runs the audit; zeroed at first. On one thread. */
#pragma once
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

struct catalogue;

struct audit_unmatched {
    size_t count;
    struct catalogue *known;   /* once it was evaluated */
    struct buf last, reported; /* kinds, with a line end behind each */
};

void audit_unmatched_note(struct audit_unmatched *unmatched, struct str api_version, struct str kind,
                          struct str file, size_t line);
void audit_unmatched_clear(struct audit_unmatched *unmatched);
