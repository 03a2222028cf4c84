/* Functions of libcrypto; see late.h. */
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdarg.h>

#include "net/late/late.h"

#define CRYPTO_CALL(count, ...) LATE_##count(KUBELUA_LIBCRYPTO, __VA_ARGS__)

CRYPTO_CALL(2, int, ASN1_TIME_to_tm, const ASN1_TIME *, struct tm *)
CRYPTO_CALL(4, long, BIO_ctrl, BIO *, int, long, void *)
CRYPTO_CALL(1, int, BIO_free, BIO *)
CRYPTO_CALL(1, BIO *, BIO_new, const BIO_METHOD *)
CRYPTO_CALL(2, BIO *, BIO_new_mem_buf, const void *, int)
CRYPTO_CALL(0, const BIO_METHOD *, BIO_s_mem)
CRYPTO_CALL(3, BIGNUM *, BN_bin2bn, const unsigned char *, int, BIGNUM *)
CRYPTO_CALL(1, void, BN_free, BIGNUM *)
CRYPTO_CALL(2, ASN1_INTEGER *, BN_to_ASN1_INTEGER, const BIGNUM *, ASN1_INTEGER *)
CRYPTO_CALL(3, int, CRYPTO_memcmp, const void *, const void *, size_t)
CRYPTO_CALL(0, void, ERR_clear_error)
CRYPTO_CALL(0, unsigned long, ERR_peek_last_error)
CRYPTO_CALL(1, const char *, ERR_reason_error_string, unsigned long)
CRYPTO_CALL(6, int, EVP_Digest, const void *, size_t, unsigned char *, unsigned *, const EVP_MD *, ENGINE *)
CRYPTO_CALL(1, void, EVP_PKEY_free, EVP_PKEY *)
CRYPTO_CALL(0, const EVP_MD *, EVP_sha1)
CRYPTO_CALL(0, const EVP_MD *, EVP_sha256)
CRYPTO_CALL(0, const EVP_MD *, EVP_sha512)
CRYPTO_CALL(1, void, GENERAL_NAMES_free, GENERAL_NAMES *)
CRYPTO_CALL(7, unsigned char *, HMAC, const EVP_MD *, const void *, int, const unsigned char *, size_t,
            unsigned char *, unsigned *)
CRYPTO_CALL(2, void, OPENSSL_cleanse, void *, size_t)
CRYPTO_CALL(1, int, OPENSSL_sk_num, const OPENSSL_STACK *)
CRYPTO_CALL(2, void *, OPENSSL_sk_value, const OPENSSL_STACK *, int)
CRYPTO_CALL(4, EVP_PKEY *, PEM_read_bio_PrivateKey, BIO *, EVP_PKEY **, pem_password_cb *, void *)
CRYPTO_CALL(4, X509 *, PEM_read_bio_X509_AUX, BIO *, X509 **, pem_password_cb *, void *)
CRYPTO_CALL(7, int, PEM_write_bio_PrivateKey, BIO *, const EVP_PKEY *, const EVP_CIPHER *,
            const unsigned char *, int, pem_password_cb *, void *)
CRYPTO_CALL(2, int, PEM_write_bio_X509, BIO *, const X509 *)
CRYPTO_CALL(2, int, RAND_bytes, unsigned char *, int)
CRYPTO_CALL(4, X509_EXTENSION *, X509V3_EXT_conf_nid, LHASH_OF(CONF_VALUE) *, X509V3_CTX *, int, const char *)
CRYPTO_CALL(6, void, X509V3_set_ctx, X509V3_CTX *, X509 *, X509 *, X509_REQ *, X509_CRL *, int)
CRYPTO_CALL(1, void, X509_EXTENSION_free, X509_EXTENSION *)
CRYPTO_CALL(7, int, X509_NAME_add_entry_by_txt, X509_NAME *, const char *, int, const unsigned char *, int,
            int, int)
CRYPTO_CALL(1, X509 *, X509_STORE_CTX_get0_cert, const X509_STORE_CTX *)
CRYPTO_CALL(2, void, X509_STORE_CTX_set_error, X509_STORE_CTX *, int)
CRYPTO_CALL(3, int, X509_add_ext, X509 *, X509_EXTENSION *, int)
CRYPTO_CALL(2, int, X509_check_private_key, const X509 *, const EVP_PKEY *)
CRYPTO_CALL(1, void, X509_free, X509 *)
CRYPTO_CALL(1, const ASN1_TIME *, X509_get0_notAfter, const X509 *)
CRYPTO_CALL(1, const ASN1_TIME *, X509_get0_notBefore, const X509 *)
CRYPTO_CALL(4, void *, X509_get_ext_d2i, const X509 *, int, int *, int *)
CRYPTO_CALL(1, ASN1_INTEGER *, X509_get_serialNumber, X509 *)
CRYPTO_CALL(1, X509_NAME *, X509_get_subject_name, const X509 *)
CRYPTO_CALL(1, ASN1_TIME *, X509_getm_notAfter, const X509 *)
CRYPTO_CALL(1, ASN1_TIME *, X509_getm_notBefore, const X509 *)
CRYPTO_CALL(2, ASN1_TIME *, X509_gmtime_adj, ASN1_TIME *, long)
CRYPTO_CALL(0, X509 *, X509_new)
CRYPTO_CALL(2, int, X509_set_issuer_name, X509 *, const X509_NAME *)
CRYPTO_CALL(2, int, X509_set_pubkey, X509 *, EVP_PKEY *)
CRYPTO_CALL(2, int, X509_set_version, X509 *, long)
CRYPTO_CALL(3, int, X509_sign, X509 *, EVP_PKEY *, const EVP_MD *)
CRYPTO_CALL(1, int, X509_verify_cert, X509_STORE_CTX *)

/* The further argument is the name of a curve, or the size of a key. */
EVP_PKEY *EVP_PKEY_Q_keygen(OSSL_LIB_CTX *library, const char *properties, const char *type, ...)
{
    va_list rest;
    va_start(rest, type);
    void *parameter = va_arg(rest, void *);
    va_end(rest);
    return LATE_FUNCTION(KUBELUA_LIBCRYPTO, EVP_PKEY_Q_keygen)(library, properties, type, parameter);
}
