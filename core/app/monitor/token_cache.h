/* Verdicts on bearer tokens that the server reviewed (token_review.h), each for ten seconds, as in
 * client-go's delegating authenticator and authorizer. Tokens are known by their SHA-256 only. A full cache
 * loses its oldest verdict. Owner: its creator, which locks. `now_ms` is of any one clock. */
#pragma once
#include <stdint.h>

#include "kube/api/token_review.h"

enum { TOKEN_CACHE_MAX = 256, TOKEN_CACHE_MS = 10000 };

struct token_hash {
    uint8_t bytes[32];
};

struct token_hash token_hash_of(struct str token);
bool token_hash_equal(const struct token_hash *a, const struct token_hash *b);

struct token_cache;

struct token_cache *token_cache_new(void);
/* NULL is allowed. */
void token_cache_free(struct token_cache *cache);
/* Returns TOKEN_UNDECIDED if there is no verdict, or it is too old. */
enum token_verdict token_cache_find(const struct token_cache *cache, const struct token_hash *hash,
                                    int64_t now_ms);
/* Once for a token that was not found. */
void token_cache_put(struct token_cache *cache, const struct token_hash *hash, enum token_verdict verdict,
                     int64_t now_ms);
