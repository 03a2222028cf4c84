/* Guesses the next key from the last two: objects of a kind repeat themselves, so that most keys need one
 * comparison instead of a hash and a search. Owner: the encoder that embeds it. Zero-initialised is empty and
 * valid. */
#pragma once
#include <stdint.h>

#include "base/str.h"
#include "object/value/dict.h"

enum { KEY_CACHE_BITS = 12 };

struct key_cache {
    uint32_t context;                    /* numbers of the last two keys */
    uint32_t guess[1 << KEY_CACHE_BITS]; /* what came in that context last */
};

static inline uint64_t load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t load4(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Compares short strings, without a call. */
static inline bool same_text(struct str a, struct str b)
{
    if (a.n != b.n) return false;
    if (a.n >= 8) {
        for (size_t i = 0; i + 8 < a.n; i += 8) {
            if (load8(a.p + i) != load8(b.p + i)) return false;
        }
        return load8(a.p + a.n - 8) == load8(b.p + a.n - 8);
    }
    if (a.n >= 4) return load4(a.p) == load4(b.p) && load4(a.p + a.n - 4) == load4(b.p + a.n - 4);
    for (size_t i = 0; i < a.n; i++) {
        if (a.p[i] != b.p[i]) return false;
    }
    return true;
}

/* Returns the number as dict_intern. `salt` separates strings of different use. */
static inline uint32_t key_cache_intern(struct key_cache *cache, struct str text, uint32_t salt,
                                        const struct admission_kind *kind)
{
    uint32_t *guess = &cache->guess[((cache->context ^ salt) * 0x9e3779b1u) >> (32 - KEY_CACHE_BITS)];
    if (same_text(text, dict_text(*guess))) return *guess;
    uint32_t id = dict_intern(text, kind);
    if (id != DICT_NONE) *guess = id;
    return id;
}

static inline void key_cache_seen(struct key_cache *cache, uint32_t id)
{
    cache->context = cache->context << 16 | (id & 0xffff);
}
