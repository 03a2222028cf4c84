/* Keys that come twice in one map: the last one stays.
 * Owner: works on an encoder's stack and area. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "object/pack/encode.h"

enum dedup_result {
    DEDUP_NOTHING,
    DEDUP_REMOVED,
    DEDUP_REFUSED, /* there are some, and entries whose blobs were copied together */
};

/* Takes out of `*count` entries at the top of the area those whose key comes again, and their blobs. */
enum dedup_result dedup(struct encoder *e, struct pending *entry, size_t *count);
