/* Rate limiter of work queues; see rate_limiter.h. */
#include "informer/workqueue/rate_limiter.h"

#include <math.h>

void rate_limiter_start(struct rate_limiter *limiter, int64_t now_ms)
{
    token_bucket_start(&limiter->bucket.tokens, limiter->bucket.per_second, limiter->bucket.burst, now_ms);
}

/* Returns base x 2^failures (W-9), as a double, so that an overflow becomes the maximum. */
static int64_t exponential_ms(const struct rate_limiter *limiter, uint64_t failures)
{
    enum { EXPONENT_MAX = 1000 };
    int exponent = failures < EXPONENT_MAX ? (int)failures : EXPONENT_MAX;
    double delay = ldexp((double)limiter->exponential.base_ms, exponent);
    return delay < (double)limiter->exponential.max_ms ? (int64_t)delay : limiter->exponential.max_ms;
}

static int64_t fast_slow_ms(const struct rate_limiter *limiter, uint64_t failures)
{
    return failures < limiter->fast_slow.tries ? limiter->fast_slow.fast_ms : limiter->fast_slow.slow_ms;
}

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t rate_limiter_when_ms(struct rate_limiter *limiter, uint64_t failures, int64_t now_ms)
{
    int64_t delay = 0;
    if (limiter->exponential.on) delay = longer(delay, exponential_ms(limiter, failures));
    if (limiter->fast_slow.on) delay = longer(delay, fast_slow_ms(limiter, failures));
    /* A token is spent even if another delay is longer, because client-go's MaxOf calls all limiters (W-9).
     */
    if (limiter->bucket.on) delay = longer(delay, token_bucket_take(&limiter->bucket.tokens, now_ms));
    return limiter->max_wait_ms && delay > limiter->max_wait_ms ? limiter->max_wait_ms : delay;
}

bool rate_limiter_counts(const struct rate_limiter *limiter)
{
    return limiter->exponential.on || limiter->fast_slow.on;
}
