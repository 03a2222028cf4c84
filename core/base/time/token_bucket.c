/* Rate with bursts; see token_bucket.h. */
#include "base/time/token_bucket.h"

#include <math.h>

#include "base/time/duration.h"

/* Tolerance for sums of fractions, which would otherwise cause a wait of a millisecond for nothing. */
static const double tiny = 1e-6;

void token_bucket_start(struct token_bucket *bucket, double per_second, double burst, int64_t now_ms)
{
    *bucket =
        (struct token_bucket){.per_ms = per_second / 1000, .burst = burst, .tokens = burst, .at_ms = now_ms};
}

static void fill(struct token_bucket *bucket, int64_t now_ms)
{
    if (now_ms > bucket->at_ms) bucket->tokens += (double)(now_ms - bucket->at_ms) * bucket->per_ms;
    bucket->tokens = fmin(bucket->tokens, bucket->burst);
    bucket->at_ms = now_ms;
}

int64_t token_bucket_wait_ms(struct token_bucket *bucket, double count, int64_t now_ms)
{
    fill(bucket, now_ms);
    double missing = count - bucket->tokens;
    if (missing < tiny) return 0;
    double wait_ms = ceil(missing / bucket->per_ms - tiny);
    return wait_ms < (double)DURATION_MAX_MS ? (int64_t)wait_ms : DURATION_MAX_MS;
}

int64_t token_bucket_take(struct token_bucket *bucket, int64_t now_ms)
{
    int64_t wait_ms = token_bucket_wait_ms(bucket, 1, now_ms);
    bucket->tokens -= 1;
    return wait_ms;
}

bool token_bucket_try(struct token_bucket *bucket, int64_t now_ms)
{
    fill(bucket, now_ms);
    if (bucket->tokens < 1 - tiny) return false;
    bucket->tokens -= 1;
    return true;
}

void token_bucket_give_back(struct token_bucket *bucket, int64_t wait_ms, int64_t now_ms)
{
    fill(bucket, now_ms);
    /* Tokens that were taken behind it stay as far in the future as before: only the rest is free again. */
    double behind = -bucket->tokens - (double)wait_ms * bucket->per_ms;
    double free_again = 1 - (behind > 0 ? behind : 0);
    if (free_again > 0) bucket->tokens += free_again;
    bucket->tokens = fmin(bucket->tokens, bucket->burst);
}
