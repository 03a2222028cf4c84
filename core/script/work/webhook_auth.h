/* Proof that a caller of a webhook knows its secret: a bearer token, or a signature of the body (HMAC), as
 * GitHub sends it. Comparisons take the same time whatever differs. Owner: stateless; on any thread. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* A token is known by its SHA-256 alone. */
struct token_digest {
    uint8_t bytes[32];
};

struct token_digest token_digest_of(struct str token);
/* Returns whether the header Authorization is "Bearer TOKEN" with this token; NULL: there is none. */
bool token_digest_admits(const struct token_digest *digest, const char *authorization);

enum signature_algorithm { SIGNATURE_SHA1, SIGNATURE_SHA256, SIGNATURE_SHA512, SIGNATURE_ALGORITHMS };

/* "sha256" */
const char *signature_algorithm_name(enum signature_algorithm algorithm);
/* Appends the HMAC of the body in hex, after "sha256=". */
void signature_put(enum signature_algorithm algorithm, struct str secret, struct str body, struct buf *out);
/* Returns whether `value` is the HMAC of the body in hex, bare or after "sha256="; NULL: there is none. */
bool signature_admits(enum signature_algorithm algorithm, struct str secret, struct str body,
                      const char *value);
