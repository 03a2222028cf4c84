/* Differences between two values, path by path.
 * Owner: everything borrowed. `fn` may keep nothing beyond its call. */
#pragma once
#include "base/str.h"
#include "object/value/value.h"

/* Calls `fn` for each difference, depth first, in the order of `a`, then for values that only `b` has, until
 * it returns false. `path` has the grammar of path.h: `spec.containers[0].image`,
 * `metadata.labels['app.kubernetes.io/name']`. A value that one side lacks is absent there. Arrays are
 * compared by position. Ends early once `stop` is true; NULL: never. */
void value_diff(struct value a, struct value b, const volatile bool *stop,
                bool (*fn)(void *ctx, struct str path, struct value a, struct value b), void *ctx);
