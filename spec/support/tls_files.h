/* Certificates for units, made on the spot: a CA, and what it signs.
 * Owner: the test frees what it made. */
#pragma once
#include <stdbool.h>

struct ssl_ctx_st;

struct tls_pair {
    char *cert_pem, *key_pem;
    void *cert, *key; /* X509, EVP_PKEY */
};

/* A self-signed CA named `name`. */
struct tls_pair tls_new_ca(const char *name);
/* Signed by `ca`. `alt_names` as OpenSSL writes them: "DNS:x,IP:127.0.0.1". */
struct tls_pair tls_new_leaf(const struct tls_pair *ca, const char *name, const char *alt_names);
void tls_pair_clear(struct tls_pair *pair);

/* A server's context. `client_ca` not NULL: it wants a client certificate that this CA signed. */
struct ssl_ctx_st *tls_server_context(const struct tls_pair *pair, const struct tls_pair *client_ca);
/* From now on it wants a client certificate that `client_ca` signed. */
void tls_want_client(struct ssl_ctx_st *tls, const struct tls_pair *client_ca);
void tls_server_context_free(struct ssl_ctx_st *tls);
/* Makes clients that may speak HTTP/2 use it. */
void tls_only_h2(struct ssl_ctx_st *tls);
/* TLS 1.1 at most, for a server that is too old. */
void tls_only_old(struct ssl_ctx_st *tls);
