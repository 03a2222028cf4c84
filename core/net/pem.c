/* Checks of certificates and keys by OpenSSL; see pem.h. */
#include "net/pem.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include <time.h>

/* Refuses to read a passphrase: OpenSSL would prompt on the terminal. */
static int no_passphrase(char *out, int size, int writing, void *ctx)
{
    return -1;
}

/* OpenSSL's reason for the last failure, and its queue emptied. */
static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return text ? text : "malformed";
}

static BIO *open_text(struct str pem)
{
    return BIO_new_mem_buf(pem.p ? pem.p : "", pem.n > INT_MAX ? INT_MAX : (int)pem.n);
}

static bool has(struct str pem, const char *words)
{
    return pem.n && memmem(pem.p, pem.n, words, strlen(words));
}

/* OpenSSL's own word is "unsupported", whatever it may be. */
static void blame_key(struct str pem, struct err *err)
{
    const char *why = reason();
    if (!has(pem, "PRIVATE KEY-----"))
        err_set(err, ERR_TLS, "no private key in PEM form");
    else if (has(pem, "ENCRYPTED"))
        err_set(err, ERR_TLS, "the private key has a passphrase, which is not supported");
    else
        err_set(err, ERR_TLS, "the private key cannot be used: %s", why);
}

static EVP_PKEY *read_key(struct str pem, struct err *err)
{
    BIO *bio = open_text(pem);
    ERR_clear_error();
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    if (!key) blame_key(pem, err);
    return key;
}

bool pem_check_certificates(struct str pem, struct err *err)
{
    BIO *bio = open_text(pem);
    X509 *cert;
    int count = 0;
    if (str_has_nul(pem)) { /* what is behind it would be cut off elsewhere */
        BIO_free(bio);
        return err_set(err, ERR_TLS, "the PEM text must not contain a NUL byte");
    }
    ERR_clear_error();
    while ((cert = PEM_read_bio_X509_AUX(bio, NULL, no_passphrase, NULL))) {
        X509_free(cert);
        count++;
    }
    BIO_free(bio);
    bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (count > 0 && at_end) {
        ERR_clear_error();
        return true;
    }
    if (at_end) {
        ERR_clear_error();
        return err_set(err, ERR_TLS, "no certificate in PEM form");
    }
    return err_set(err, ERR_TLS, "certificate %d is broken: %s", count + 1, reason());
}

bool pem_check_key(struct str pem, struct err *err)
{
    EVP_PKEY *key = read_key(pem, err);
    EVP_PKEY_free(key);
    return key != NULL;
}

bool pem_check_pair(struct str cert_pem, struct str key_pem, struct err *err)
{
    if (!pem_check_certificates(cert_pem, err)) return err_wrap(err, "client certificate");
    EVP_PKEY *key = read_key(key_pem, err);
    if (!key) return err_wrap(err, "client key");
    BIO *bio = open_text(cert_pem);
    X509 *cert = PEM_read_bio_X509_AUX(bio, NULL, no_passphrase, NULL);
    bool match = cert && X509_check_private_key(cert, key) == 1;
    X509_free(cert);
    BIO_free(bio);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return match ? true : err_set(err, ERR_TLS, "the client key does not match the client certificate");
}

static bool read_time(const ASN1_TIME *time, int64_t *seconds)
{
    struct tm tm;
    if (!time || ASN1_TIME_to_tm(time, &tm) != 1) return false;
    *seconds = (int64_t)timegm(&tm);
    return true;
}

bool pem_validity(struct str cert_pem, int64_t *from_s, int64_t *until_s)
{
    BIO *bio = open_text(cert_pem);
    X509 *cert = PEM_read_bio_X509_AUX(bio, NULL, no_passphrase, NULL);
    bool ok =
        cert && read_time(X509_get0_notBefore(cert), from_s) && read_time(X509_get0_notAfter(cert), until_s);
    X509_free(cert);
    BIO_free(bio);
    ERR_clear_error();
    return ok;
}
