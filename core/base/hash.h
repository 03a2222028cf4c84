/* Hashes of bytes, seeded once per process, so that no input can be built to collide. Owner: stateless. May
 * be called anywhere, from any thread. Never stored outside the process, except hash_lasting. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

uint64_t hash_bytes(const void *data, size_t len);
/* Computes a hash that is the same in each process for ever: 32 hex digits and a NUL. */
void hash_lasting(struct str text, char *out);

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
