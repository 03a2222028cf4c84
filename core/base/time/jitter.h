/* A seeded generator of random numbers for delays and timeouts: the same seed gives the same run.
 * Owner: whoever embeds it; one thread. May be used from any callback. Not for secrets. */
#pragma once
#include <stdint.h>

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
