/* Keys that come twice in one map: the last one stays.
 * Owner: works on an encoder's stack and area. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "object/pack/encode.h"

/* Takes out of `*count` entries at the top of the area those whose key comes again, and their blobs. */
bool dedup(struct encoder *e, struct pending *entry, size_t *count);
