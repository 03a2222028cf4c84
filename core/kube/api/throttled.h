/* Requests that wait because the server answered 429: for the log and the status, as who waits looks idle.
 * Owner: the client, on the I/O thread, except where said otherwise. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct throttled;

/* `server` and `cluster`, its name, are for the log; borrowed. NULL: the home cluster, which has none. */
struct throttled *throttled_new(const char *server, const char *cluster, struct clock *clock);
void throttled_free(struct throttled *throttled);
/* A request waits for that long before it is sent again. Logs the first, and after that one a minute with the
 * number of those since. */
void throttled_begin(struct throttled *throttled, const char *method, const char *path, int64_t wait_ms);
/* It waits no longer. */
void throttled_end(struct throttled *throttled);
/* Returns how many wait, and since when some do (wall time). From any thread. */
size_t throttled_count(struct throttled *throttled, int64_t *since_us);
