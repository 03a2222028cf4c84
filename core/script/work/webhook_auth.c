/* Tokens and signatures of webhooks, by OpenSSL; see webhook_auth.h. */
#include "script/work/webhook_auth.h"

#include <limits.h>
#include <strings.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/must.h"

struct token_digest token_digest_of(struct str token)
{
    struct token_digest digest;
    unsigned n = 0;
    must(EVP_Digest(token.p ? token.p : "", token.n, digest.bytes, &n, EVP_sha256(), NULL) == 1 &&
         n == sizeof digest.bytes);
    return digest;
}

bool token_digest_admits(const struct token_digest *digest, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0) return false;
    struct str token = str_trim(str_of(authorization + sizeof scheme - 1));
    struct token_digest given = token_digest_of(token);
    return CRYPTO_memcmp(given.bytes, digest->bytes, sizeof given.bytes) == 0;
}

static const char *const names[] = {
    [SIGNATURE_SHA1] = "sha1", [SIGNATURE_SHA256] = "sha256", [SIGNATURE_SHA512] = "sha512"};

const char *signature_algorithm_name(enum signature_algorithm algorithm)
{
    return names[algorithm];
}

static const EVP_MD *digest_of(enum signature_algorithm algorithm)
{
    switch (algorithm) {
    case SIGNATURE_SHA1: return EVP_sha1();
    case SIGNATURE_SHA512: return EVP_sha512();
    default: return EVP_sha256();
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns false for what is not exactly so many bytes in hex. */
static bool read_hex(struct str text, uint8_t *bytes, size_t count)
{
    if (text.n != 2 * count) return false;
    for (size_t i = 0; i < count; i++) {
        int high = hex_digit(text.p[2 * i]), low = hex_digit(text.p[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static unsigned sign(enum signature_algorithm algorithm, struct str secret, struct str body, uint8_t *out)
{
    unsigned n = 0;
    must(secret.n <= INT_MAX && HMAC(digest_of(algorithm), secret.p, (int)secret.n,
                                     (const unsigned char *)(body.p ? body.p : ""), body.n, out, &n));
    return n;
}

void signature_put(enum signature_algorithm algorithm, struct str secret, struct str body, struct buf *out)
{
    uint8_t own[EVP_MAX_MD_SIZE];
    unsigned n = sign(algorithm, secret, body, own);
    buf_printf(out, "%s=", names[algorithm]);
    for (unsigned i = 0; i < n; i++) buf_printf(out, "%02x", own[i]);
}

bool signature_admits(enum signature_algorithm algorithm, struct str secret, struct str body,
                      const char *value)
{
    uint8_t own[EVP_MAX_MD_SIZE], given[EVP_MAX_MD_SIZE];
    if (!value) return false;
    struct str text = str_trim(str_of(value)), name = str_of(names[algorithm]);
    if (text.n > name.n && str_starts(text, name) && text.p[name.n] == '=')
        text = (struct str){text.p + name.n + 1, text.n - name.n - 1};
    unsigned n = sign(algorithm, secret, body, own);
    return read_hex(text, given, n) && CRYPTO_memcmp(own, given, n) == 0;
}
