/* Verdicts on tokens, a ring of them; see token_cache.h. */
#include "app/monitor/token_cache.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/mem.h"
#include "base/must.h"

struct cached_verdict {
    struct token_hash hash;
    enum token_verdict verdict; /* TOKEN_UNDECIDED: the place is empty */
    int64_t until_ms;
};

struct token_cache {
    struct cached_verdict ring[TOKEN_CACHE_MAX];
    size_t next;
};

struct token_hash token_hash_of(struct str token)
{
    struct token_hash hash;
    unsigned n = 0;
    must(EVP_Digest(token.p, token.n, hash.bytes, &n, EVP_sha256(), NULL) == 1 && n == sizeof hash.bytes);
    return hash;
}

bool token_hash_equal(const struct token_hash *a, const struct token_hash *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

struct token_cache *token_cache_new(void)
{
    return NEW(struct token_cache);
}

void token_cache_free(struct token_cache *cache)
{
    free(cache);
}

enum token_verdict token_cache_find(const struct token_cache *cache, const struct token_hash *hash,
                                    int64_t now_ms)
{
    for (size_t i = 0; i < TOKEN_CACHE_MAX; i++) {
        const struct cached_verdict *cached = &cache->ring[i];
        if (cached->verdict == TOKEN_UNDECIDED || now_ms >= cached->until_ms) continue;
        if (token_hash_equal(&cached->hash, hash)) return cached->verdict;
    }
    return TOKEN_UNDECIDED;
}

void token_cache_put(struct token_cache *cache, const struct token_hash *hash, enum token_verdict verdict,
                     int64_t now_ms)
{
    cache->ring[cache->next] = (struct cached_verdict){*hash, verdict, now_ms + TOKEN_CACHE_MS};
    cache->next = (cache->next + 1) % TOKEN_CACHE_MAX;
}
