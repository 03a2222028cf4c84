/* libcurl's results as errors of ours: a code to act on, and a short text that names host and port. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "net/transport_internal.h"

/* libcurl's own words when it has any: it names what is wrong with a certificate. */
static const char *detail(const struct http_exchange *exchange, CURLcode result)
{
    return exchange->error_text[0] ? exchange->error_text : curl_easy_strerror(result);
}

static const char *connect_detail(const struct http_exchange *exchange, CURLcode result, long os_errno)
{
    return os_errno ? strerror((int)os_errno) : detail(exchange, result);
}

static void connect_error(const struct http_exchange *exchange, CURLcode result, struct err *err)
{
    long os_errno = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &os_errno);
    err_set(err, ERR_CONNECT, "connect to %s: %s", exchange->where,
            connect_detail(exchange, result, os_errno));
    if (os_errno == ECONNREFUSED) strcpy(err->reason, HTTP_REASON_REFUSED);
}

static void closed_error(const struct http_exchange *exchange, CURLcode result, struct err *err)
{
    const char *where = exchange->where;
    long os_errno = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &os_errno);
    if (os_errno == ECONNRESET || os_errno == EPIPE || strstr(exchange->error_text, "reset by peer"))
        err_set(err, ERR_CLOSED, "%s: connection reset", where);
    else if (os_errno == ETIMEDOUT) /* TCP_USER_TIMEOUT or keepalive gave up */
        err_set(err, ERR_CLOSED, "%s: connection lost: %s", where, strerror(ETIMEDOUT));
    else {
        err_set(err, ERR_CLOSED, "%s: connection closed before the end of the answer (%s)", where,
                detail(exchange, result));
        return;
    }
    strcpy(err->reason, HTTP_REASON_RESET);
}

void exchange_error(const struct http_exchange *exchange, CURLcode result, struct err *err)
{
    const char *where = exchange->where;
    switch (result) {
    case CURLE_WRITE_ERROR: err_set(err, ERR_CANCELLED, "refused by the reader"); break;
    case CURLE_COULDNT_RESOLVE_HOST:
        err_set(err, ERR_CONNECT, "connect to %s: cannot resolve the host's name", where);
        break;
    case CURLE_COULDNT_CONNECT: connect_error(exchange, result, err); break;
    case CURLE_OPERATION_TIMEDOUT: /* only the connect timeout is libcurl's */
        err_set(err, ERR_TIMEOUT, "connect to %s: no connection within %lld ms", where,
                (long long)exchange->transport->connect_timeout_ms);
        break;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
    case CURLE_USE_SSL_FAILED:
        err_set(err, ERR_TLS, "TLS with %s: %s", where, detail(exchange, result));
        break;
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
        err_set(err, ERR_PARSE, "%s: %s", where, detail(exchange, result));
        break;
    case CURLE_SEND_FAIL_REWIND: /* the connection broke when the body was on its way */
        err_set(err, ERR_CLOSED, "%s: connection reset", where);
        strcpy(err->reason, HTTP_REASON_RESET);
        break;
    default: closed_error(exchange, result, err);
    }
}
