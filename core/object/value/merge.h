/* JSON merge patches (RFC 7386) of packed values, both ways: what a patch makes of a value, and which patch
 * makes one value of another. Owner: the caller's buffer; values are borrowed. Any thread and callback. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "object/value/value.h"

/* Appends, as JSON, the result of `patch` applied to `target`, which may be absent: maps are merged, nulls
 * remove, anything else replaces, complete lists too. Nulls of `target` itself stay. */
void merge_write(struct buf *out, struct value target, struct value patch);
/* Appends the patch from `from` to `to`; returns false and appends nothing if they are equal. No patch can
 * write a null: a null in `to` is absent afterwards, unless both have it, or in a list. */
bool merge_diff(struct buf *out, struct value from, struct value to);
/* Likewise for two maps, where `entry` appends the change of an entry that both have: its key and a value, or
 * nothing. */
typedef void merge_entry_fn(void *ctx, struct buf *out, struct str key, struct value from, struct value to);
bool merge_diff_maps(struct buf *out, struct value from, struct value to, merge_entry_fn *entry, void *ctx);
