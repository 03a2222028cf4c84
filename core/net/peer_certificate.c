/* Refusal of server certificates without a name that Go's clients would accept; see transport_internal.h
 * (T-1). */
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "net/transport_internal.h"

static bool has_names(const X509 *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool has = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type = sk_GENERAL_NAME_value(names, i)->type;
        has = has || type == GEN_DNS || type == GEN_IPADD;
    }
    GENERAL_NAMES_free(names);
    return has;
}

/* libcurl would compare the subject's common name, which Go no longer reads. */
static int verify(X509_STORE_CTX *store, void *ctx)
{
    struct http_exchange *exchange = ctx;
    int verified = X509_verify_cert(store);
    exchange->nameless = verified == 1 && !has_names(X509_STORE_CTX_get0_cert(store));
    if (!exchange->nameless) return verified;
    X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
    return 0;
}

static CURLcode prepare(CURL *easy, void *tls, void *ctx)
{
    SSL_CTX_set_cert_verify_callback(tls, verify, ctx);
    return CURLE_OK;
}

void exchange_require_names(struct http_exchange *exchange)
{
    curl_easy_setopt(exchange->easy, CURLOPT_SSL_CTX_FUNCTION, prepare);
    curl_easy_setopt(exchange->easy, CURLOPT_SSL_CTX_DATA, exchange);
}
