/* Limits actions to a steady rate, with a burst after a pause: requests (H-1), items of work queues (W-8),
 * Events (EV-2). A bucket of tokens, one for each action, refills over time. A caller that finds it empty may
 * take a future token, in the order of calls. Owner: the struct that embeds it, on its thread. `now_ms` is of
 * one clock; steps back of that clock are ignored. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct token_bucket {
    double per_ms, burst;
    double tokens; /* at `at_ms`; below zero are those of the future that are taken */
    int64_t at_ms;
};

/* `per_second` (above 0) come in, and there are `burst` (1 at least) from the start and after a rest. */
void token_bucket_start(struct token_bucket *bucket, double per_second, double burst, int64_t now_ms);
/* Takes a token; returns the wait for it, in ms, rounded up: the rate is never exceeded. At most
 * DURATION_MAX_MS. */
int64_t token_bucket_take(struct token_bucket *bucket, int64_t now_ms);
/* Returns the time, in ms, until token_bucket_try finds `count` tokens. */
int64_t token_bucket_wait_ms(struct token_bucket *bucket, double count, int64_t now_ms);
/* Takes a token if there is one. */
bool token_bucket_try(struct token_bucket *bucket, int64_t now_ms);
/* Returns a token that is due in `wait_ms` and no longer needed; later tokens stay when they are. */
void token_bucket_give_back(struct token_bucket *bucket, int64_t wait_ms, int64_t now_ms);
