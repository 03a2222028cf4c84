/* A token bucket on a clock; see rate_limiter.h. */
#include "kube/rate_limiter.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct rate_limiter {
    struct clock *clock;
    double per_ms, burst;
    double tokens; /* at `at_ms`; below zero are those of the future that are taken */
    int64_t at_ms;
};

struct rate_limiter *rate_limiter_new(struct clock *clock, double qps, int burst)
{
    struct rate_limiter *limiter = NEW(struct rate_limiter);
    limiter->clock = clock;
    limiter->per_ms = qps / 1000;
    limiter->tokens = limiter->burst = burst > 1 ? burst : 1;
    limiter->at_ms = clock_now_ms(clock);
    return limiter;
}

void rate_limiter_free(struct rate_limiter *limiter)
{
    free(limiter);
}

static void fill(struct rate_limiter *limiter)
{
    int64_t now = clock_now_ms(limiter->clock);
    limiter->tokens += (double)(now - limiter->at_ms) * limiter->per_ms;
    if (limiter->tokens > limiter->burst) limiter->tokens = limiter->burst;
    limiter->at_ms = now;
}

/* The clock's milliseconds and the sums of fractions must not make a wait of nothing. */
static const double tiny = 1e-6;

int64_t rate_limiter_take(struct rate_limiter *limiter)
{
    if (!limiter) return 0;
    fill(limiter);
    limiter->tokens -= 1;
    return limiter->tokens > -tiny ? 0 : (int64_t)ceil(-limiter->tokens / limiter->per_ms - tiny);
}

void rate_limiter_give_back(struct rate_limiter *limiter, int64_t wait_ms)
{
    if (!limiter) return;
    fill(limiter);
    /* What was taken behind it is as far in the future as before: only the rest is free again. */
    double behind = -limiter->tokens - (double)wait_ms * limiter->per_ms;
    double free_again = 1 - (behind > 0 ? behind : 0);
    if (free_again > 0) limiter->tokens += free_again;
    if (limiter->tokens > limiter->burst) limiter->tokens = limiter->burst;
}
