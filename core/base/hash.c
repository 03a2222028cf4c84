/* Seeded hashes; see hash.h. */
#include "base/hash.h"

#include <pthread.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/must.h"

static uint64_t seed;

/* Before main, so that no thread can see it change. */
__attribute__((constructor)) static void choose_seed(void)
{
    must(getrandom(&seed, sizeof seed, 0) == sizeof seed);
}

uint64_t hash_bytes(const void *data, size_t len)
{
    return XXH3_64bits_withSeed(data, len, seed);
}
