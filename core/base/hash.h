/* Hashes of bytes, seeded once per process, so that no input can be built to collide. Owner: stateless. May
 * be called anywhere, from any thread. Stored outside the process only beside their seed, or by hash_lasting.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

uint64_t hash_bytes(const void *data, size_t len);
/* Computes a hash that is the same in each process for ever: 32 hex digits and a NUL. */
void hash_lasting(struct str text, char *out);

/* The seed, and one instead of it: of a file with hashes of an earlier process. Only at the start, before any
 * hash is stored anywhere, and from one thread. */
uint64_t hash_seed(void);
void hash_set_seed(uint64_t seed);

static inline uint64_t hash_str(struct str s)
{
    return hash_bytes(s.p, s.n);
}

/* Never 0, which is none to a number_map. */
static inline uint64_t hash_key(struct str s)
{
    uint64_t hash = hash_str(s);
    return hash ? hash : 1;
}
