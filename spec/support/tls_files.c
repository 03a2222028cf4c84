/* Certificates by OpenSSL's API; see tls_files.h. */
#include "support/tls_files.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

static char *bio_text(BIO *bio)
{
    char *data;
    long len = BIO_get_mem_data(bio, &data);
    char *text = xstrndup(data, (size_t)len);
    BIO_free(bio);
    return text;
}

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    must(extension);
    X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
}

static struct tls_pair make(const struct tls_pair *ca, const char *name, const char *alt_names)
{
    static long serial = 1000;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    X509 *issuer = ca ? ca->cert : cert;
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC, (const unsigned char *)name,
                               -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(issuer));
    X509_set_pubkey(cert, key);
    add_extension(cert, issuer, NID_basic_constraints, ca ? "CA:FALSE" : "critical,CA:TRUE");
    if (alt_names) add_extension(cert, issuer, NID_subject_alt_name, alt_names);
    must(X509_sign(cert, ca ? ca->key : key, EVP_sha256()) > 0);
    BIO *cert_bio = BIO_new(BIO_s_mem()), *key_bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(cert_bio, cert);
    PEM_write_bio_PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL);
    return (struct tls_pair){bio_text(cert_bio), bio_text(key_bio), cert, key};
}

struct tls_pair tls_new_ca(const char *name)
{
    return make(NULL, name, NULL);
}

struct tls_pair tls_new_leaf(const struct tls_pair *ca, const char *name, const char *alt_names)
{
    return make(ca, name, alt_names);
}

void tls_pair_clear(struct tls_pair *pair)
{
    free(pair->cert_pem);
    free(pair->key_pem);
    X509_free(pair->cert);
    EVP_PKEY_free(pair->key);
    *pair = (struct tls_pair){0};
}

struct ssl_ctx_st *tls_server_context(const struct tls_pair *pair, const struct tls_pair *client_ca)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    must(SSL_CTX_use_certificate(tls, pair->cert) == 1 && SSL_CTX_use_PrivateKey(tls, pair->key) == 1);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (client_ca) tls_want_client(tls, client_ca);
    return tls;
}

void tls_want_client(struct ssl_ctx_st *tls, const struct tls_pair *client_ca)
{
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), client_ca->cert);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

void tls_server_context_free(struct ssl_ctx_st *tls)
{
    SSL_CTX_free(tls);
}

static int choose_h2(SSL *ssl, const unsigned char **chosen, unsigned char *n, const unsigned char *offered,
                     unsigned int offered_n, void *ctx)
{
    static const unsigned char own[] = "\2h2";
    return SSL_select_next_proto((unsigned char **)chosen, n, own, sizeof own - 1, offered, offered_n) ==
                   OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void tls_only_h2(struct ssl_ctx_st *tls)
{
    SSL_CTX_set_alpn_select_cb(tls, choose_h2, NULL);
}

void tls_only_old(struct ssl_ctx_st *tls)
{
    SSL_CTX_set_security_level(tls, 0);
    SSL_CTX_set_min_proto_version(tls, TLS1_1_VERSION);
    SSL_CTX_set_max_proto_version(tls, TLS1_1_VERSION);
}
