/* Delay of a reflector before its next try (contract R-2): each delay is twice the previous one, up to a cap,
 * and stretched at random. Owner: the reflector that embeds it; one generator serves lists and watches.
 * May be used from any callback of that thread. */
#pragma once
#include <stdint.h>

/* --- Seeded generator of random numbers for delays and timeouts: the same seed repeats the same run. Owner:
 * the struct that embeds it; one thread. May be used from any callback. Not for secrets. */

struct jitter {
    uint64_t state;
};

/* splitmix64: every seed is good, also 0. */
static inline uint64_t jitter_next(struct jitter *jitter)
{
    uint64_t z = jitter->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in [from, to); `to` is above `from`. */
static inline int64_t jitter_between(struct jitter *jitter, int64_t from, int64_t to)
{
    return from + (int64_t)(jitter_next(jitter) % (uint64_t)(to - from));
}

/* --- backoff */

struct backoff {
    int64_t next_ms; /* what the next delay is at least */
};

/* Starts over. */
void backoff_reset(struct backoff *backoff);
/* Uniform in [d, 2d) with d = 0.8, 1.6, 3.2, ... 25.6, 30, 30, ... seconds. */
int64_t backoff_next_ms(struct backoff *backoff, struct jitter *jitter);
