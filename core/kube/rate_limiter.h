/* The client-side rate limit (H-1): a bucket of tokens, one for each request, which fills again at a steady
 * rate. Whoever finds it empty has a token of the future, in the order of asking.
 * Owner: the client, on the I/O thread. A NULL limiter limits nothing. */
#pragma once
#include <stdint.h>

#include "base/clock.h"

struct rate_limiter;

/* `qps` tokens a second, and `burst` (1 at least) from the start and after a rest. */
struct rate_limiter *rate_limiter_new(struct clock *clock, double qps, int burst);
void rate_limiter_free(struct rate_limiter *limiter);
/* Takes a token; gives how long to wait for it, in ms. */
int64_t rate_limiter_take(struct rate_limiter *limiter);
/* Somebody no longer waits for the token that is due in `wait_ms`; those who came later keep theirs. */
void rate_limiter_give_back(struct rate_limiter *limiter, int64_t wait_ms);
