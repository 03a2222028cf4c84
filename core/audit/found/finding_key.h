/* Identity of a finding in later audits: its rule, its object, and the path, in which an element of a list
 * goes by its name if it has one; without a path the message, except its digits. So it survives moved lines,
 * containers inserted before it, other values and other versions of the kind. Owner: everything is borrowed.
 * On any one thread. */
#pragma once
#include "audit/found/table.h"
#include "base/buf.h"
#include "object/value/value.h"

enum { FINDING_KEY_SIZE = 33 };

/* Fills in the key, equal in each audit: hex digits and a NUL. Reports call it the fingerprint. */
void finding_key(const struct audit_rule *rule, const struct audit_object *object,
                 const struct audit_row *row, char *out);
/* Appends the path with names, ".spec.containers[name=web].image", for the row's `place`. Returns false if it
 * has none, so that the path itself identifies the finding. */
bool finding_place(struct value object, struct str path, struct buf *out);
