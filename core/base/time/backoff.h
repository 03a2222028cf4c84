/* How long a reflector waits before it tries again (contract R-2): each delay is twice the one before, up to
 * a cap, and stretched at random. Owner: the reflector that embeds it; one generator serves lists and watches
 * . May be used from any callback of that thread. */
#pragma once
#include <stdint.h>

#include "base/time/jitter.h"

struct backoff {
    int64_t next_ms; /* what the next delay is at least */
};

/* Starts over. */
void backoff_reset(struct backoff *backoff);
/* Uniform in [d, 2d) with d = 0.8, 1.6, 3.2, ... 25.6, 30, 30, ... seconds. */
int64_t backoff_next_ms(struct backoff *backoff, struct jitter *jitter);
