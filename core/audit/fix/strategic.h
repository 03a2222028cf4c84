/* Strategic merge patches of pods and their controllers. A merge patch replaces complete lists, so that one
 * that changes a container repeats all of it, with the values of its environment. Here lists whose items have
 * a key are merged by it, as Kubernetes' own types define (patchMergeKey). Custom kinds have no such types.
 * Owner: the caller's buffer; values are borrowed. Any thread and callback. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "object/value/value.h"

/* Appends the patch from `from` to `to`, two states of an object. Returns false and appends nothing if no
 * list in it is merged by a key, or one has changed in a way that cannot be written: use a merge patch
 * (merge_diff) then. */
bool strategic_diff(struct buf *out, struct value from, struct value to);
