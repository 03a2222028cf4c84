/* Certificates made here; see self_signed.h. */
#include "net/server/self_signed.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/mem.h"
#include "base/must.h"

enum { DAY_S = 24 * 60 * 60, VALID_DAYS = 365, SERIAL_BYTES = 16, VERSION_3 = 2 };

/* A certificate with its key, while it is made. */
struct issued {
    X509 *certificate;
    EVP_PKEY *key;
};

static void set_extension(X509 *certificate, int id, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, id, value);
    must(extension && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

/* Two authorities of the same name must not share a serial number: clients would mix them up. */
static void set_serial(X509 *certificate)
{
    unsigned char bytes[SERIAL_BYTES];
    must(RAND_bytes(bytes, sizeof bytes) == 1);
    bytes[0] &= 0x7f;
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    must(number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)));
    BN_free(number);
}

/* Clocks of clients may be behind ours, so it is valid since yesterday. */
static struct issued prepare(const char *name, const X509 *issuer)
{
    struct issued issued = {X509_new(), EVP_EC_gen("prime256v1")};
    must(issued.certificate && issued.key);
    X509 *certificate = issued.certificate;
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509_set_version(certificate, VERSION_3);
    set_serial(certificate);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -DAY_S);
    X509_gmtime_adj(X509_getm_notAfter(certificate), (long)VALID_DAYS * DAY_S);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer) : subject);
    X509_set_pubkey(certificate, issued.key);
    return issued;
}

static void clear(struct issued *issued)
{
    X509_free(issued->certificate);
    EVP_PKEY_free(issued->key);
}

static struct issued make_authority(const char *name)
{
    char *own = xasprintf("%s-ca", name);
    struct issued issued = prepare(own, NULL);
    free(own);
    set_extension(issued.certificate, NID_basic_constraints, "critical,CA:TRUE");
    set_extension(issued.certificate, NID_key_usage, "critical,keyCertSign,digitalSignature");
    set_extension(issued.certificate, NID_subject_key_identifier, "hash");
    must(X509_sign(issued.certificate, issued.key, EVP_sha256()) > 0);
    return issued;
}

static bool is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static struct issued make_server(const struct issued *authority, const char *name, const char *names,
                                 const char *listen)
{
    struct issued issued = prepare(name, authority->certificate);
    bool has_address = is_address(listen);
    char *all = xasprintf("DNS:localhost,IP:127.0.0.1,IP:::1%s%s%s%s", names ? "," : "", names ? names : "",
                          has_address ? ",IP:" : "", has_address ? listen : "");
    set_extension(issued.certificate, NID_basic_constraints, "critical,CA:FALSE");
    set_extension(issued.certificate, NID_key_usage, "critical,digitalSignature");
    set_extension(issued.certificate, NID_ext_key_usage, "serverAuth");
    set_extension(issued.certificate, NID_subject_alt_name, all);
    must(X509_sign(issued.certificate, authority->key, EVP_sha256()) > 0);
    free(all);
    return issued;
}

/* --- texts */

static char *take_text(BIO *bio)
{
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    must(n > 0);
    char *text = xstrndup(bytes, (size_t)n);
    BIO_free(bio);
    return text;
}

static char *certificate_text(X509 *certificate)
{
    BIO *bio = BIO_new(BIO_s_mem());
    must(bio && PEM_write_bio_X509(bio, certificate) == 1);
    return take_text(bio);
}

static char *key_text(EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    must(bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1);
    return take_text(bio);
}

void self_signed_make(struct self_signed *certificate, const char *name, const char *names,
                      const char *listen)
{
    struct issued authority = make_authority(name), server = make_server(&authority, name, names, listen);
    *certificate = (struct self_signed){.authority = certificate_text(authority.certificate),
                                        .server = certificate_text(server.certificate),
                                        .key = key_text(server.key)};
    clear(&authority);
    clear(&server);
}

void self_signed_clear(struct self_signed *certificate)
{
    free(certificate->authority);
    free(certificate->server);
    if (certificate->key) OPENSSL_cleanse(certificate->key, strlen(certificate->key));
    free(certificate->key);
    *certificate = (struct self_signed){0};
}
