/* Delay of an item of a work queue before its next try (contract W-8, W-9, V26): a part that grows with its
 * own failures, and a part that all items share. The queue counts the failures, so that an item is known in
 * one place only. Owner: the queue that embeds it. May be used from any callback of that thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/time/token_bucket.h"

/* Each part that is on computes a delay; the longest counts (MaxOf). */
struct rate_limiter {
    struct {
        bool on;
        int64_t base_ms, max_ms; /* base, twice that, four times that, ... max */
    } exponential;
    struct {
        bool on;
        int64_t fast_ms, slow_ms;
        uint64_t tries; /* number of fast tries */
    } fast_slow;
    struct {
        bool on;
        double per_second; /* above 0 */
        double burst;      /* 1 at least */
        struct token_bucket tokens;
    } bucket;
    int64_t max_wait_ms; /* longest delay (MaxWait); 0: no limit */
};

/* Starts with a full bucket; set the parts before. */
void rate_limiter_start(struct rate_limiter *limiter, int64_t now_ms);
/* Returns the delay of an item that has failed `failures` times. Takes a token if there is a bucket. */
int64_t rate_limiter_when_ms(struct rate_limiter *limiter, uint64_t failures, int64_t now_ms);
/* Returns whether failures of an item matter: a bucket alone counts none (NumRequeues is 0). */
bool rate_limiter_counts(const struct rate_limiter *limiter);
