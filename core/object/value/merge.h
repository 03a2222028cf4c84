/* JSON merge patches (RFC 7386) of packed values, both ways: what a patch makes of a value, and which patch
 * makes one value of another. Owner: the caller's buffer; values are borrowed. Any thread and callback. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "object/value/value.h"

/* Appends, as JSON, what `patch` makes of `target`, which may be absent: its maps are merged, its nulls
 * remove, all else replaces, lists whole. Nulls that `target` has itself stay. */
void merge_write(struct buf *out, struct value target, struct value patch);
/* Appends the patch that makes `to` of `from`; false, with nothing appended, when they are equal. No patch
 * can write a null: what is null in `to` is absent afterwards, but where both have the same, or in a list. */
bool merge_diff(struct buf *out, struct value from, struct value to);
/* The same of two maps, where `entry` appends what changes an entry that both have: its key and a value, or
 * nothing. */
typedef void merge_entry_fn(void *ctx, struct buf *out, struct str key, struct value from, struct value to);
bool merge_diff_maps(struct buf *out, struct value from, struct value to, merge_entry_fn *entry, void *ctx);
