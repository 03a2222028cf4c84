/* The Event that an election leaves on its Lease (L-10): "web-0_1f became leader".
 * Owner: nothing is kept. May be used anywhere. */
#pragma once
#include <stdint.h>

#include "base/buf.h"

/* Appends the JSON text of a core/v1 Event about the lease `ns`/`name`; `what` is "became leader" or "stopped
 * leading". */
void leader_event_write(const char *ns, const char *name, const char *identity, const char *what,
                        int64_t wall_us, struct buf *out);
