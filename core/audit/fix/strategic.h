/* Strategic merge patches of pods and of what makes them. A merge patch replaces lists whole, so that one
 * that changes a container says all of it again, with the values of its environment. Here lists whose items
 * have a key are merged by it, as Kubernetes' own types say (patchMergeKey). Custom kinds have no such types.
 * Owner: the caller's buffer; values are borrowed. Any thread and callback. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "object/value/value.h"

/* Appends the patch that makes `to` of `from`, two states of an object. False, with nothing appended, when no
 * list in it is merged by a key, or when one has changed that cannot be written so: then a merge patch is the
 * one to take (merge_diff). */
bool strategic_diff(struct buf *out, struct value from, struct value to);
