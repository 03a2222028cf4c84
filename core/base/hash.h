/* Hashes of bytes, seeded once per process, so that no input can be made to collide on purpose.
 * Owner: nobody. May be called anywhere, from any thread. Never stored outside the process. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

uint64_t hash_bytes(const void *data, size_t len);

static inline uint64_t hash_str(struct str s)
{
    return hash_bytes(s.p, s.n);
}
