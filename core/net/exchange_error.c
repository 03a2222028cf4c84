/* Results of libcurl as errors: a code to act on, and a short message that names host and port. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
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

/* "connect to HOST:PORT through the proxy HOST:PORT: WHY". */
static void not_connected(const struct http_exchange *exchange, const char *why, struct err *err)
{
    err_set(err, ERR_CONNECT, "%s", why);
    if (exchange->proxy)
        err_wrap(err, "connect to %s through the proxy %s", exchange->where, exchange->proxy->where);
    else
        err_wrap(err, "connect to %s", exchange->where);
}

static void connect_error(const struct http_exchange *exchange, CURLcode result, struct err *err)
{
    long os_errno = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &os_errno);
    not_connected(exchange, connect_detail(exchange, result, os_errno), err);
    if (os_errno == ECONNREFUSED) strcpy(err->reason, HTTP_REASON_REFUSED);
}

/* Sets the error of a proxy that refused a tunnel to the server. */
static bool tunnel_error(const struct http_exchange *exchange, struct err *err)
{
    long code = 0;
    char why[64];
    if (!exchange->proxy || exchange->has_response) return false;
    curl_easy_getinfo(exchange->easy, CURLINFO_HTTP_CONNECTCODE, &code);
    if (exchange->tunnel_steps > TUNNEL_STEPS_MAX) {
        not_connected(exchange, "the proxy's response does not end", err);
        return true;
    }
    if (code == 0 || code / 100 == 2) return false;
    snprintf(why, sizeof why, "the proxy responded with %ld", code);
    not_connected(exchange, why, err);
    return true;
}

static void reset_error(const struct http_exchange *exchange, struct err *err)
{
    err_set(err, ERR_CLOSED, "%s: connection reset", exchange->where);
    strcpy(err->reason, HTTP_REASON_RESET);
}

static void closed_error(const struct http_exchange *exchange, CURLcode result, struct err *err)
{
    const char *where = exchange->where;
    long os_errno = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &os_errno);
    if (os_errno == ECONNRESET || os_errno == EPIPE || strstr(exchange->error_text, "reset by peer")) {
        reset_error(exchange, err);
    } else if (os_errno == ETIMEDOUT) { /* TCP_USER_TIMEOUT or keepalive gave up */
        err_set(err, ERR_CLOSED, "%s: connection lost: %s", where, strerror(ETIMEDOUT));
        strcpy(err->reason, HTTP_REASON_RESET);
    } else {
        err_set(err, ERR_CLOSED, "%s: connection closed before the end of the response (%s)", where,
                detail(exchange, result));
    }
}

static void tls_error(const struct http_exchange *exchange, CURLcode result, struct err *err)
{
    const char *why = detail(exchange, result);
    if (exchange->nameless)
        why = "the certificate has no subject alternative name, and a common name is not enough; issue one "
              "with "
              "the server's names";
    err_set(err, ERR_TLS, "TLS with %s: %s", exchange->where, why);
    /* In OpenSSL's words: the reply was no TLS record. */
    if (strstr(why, "wrong version number"))
        err_append(err, "; it does not speak TLS: is it an http:// address?");
    else if (strstr(why, "SSL_ERROR_SYSCALL")) /* it closed the connection instead */
        err_append(err, "; does it speak TLS, or is it an http:// address?");
}

/* A server that expects TLS closes the connection, or replies with an alert instead of a head. */
static void hint_at_tls(const struct http_exchange *exchange, CURLcode result, struct err *err)
{
    bool no_head = result == CURLE_GOT_NOTHING || strstr(exchange->error_text, "HTTP/0.9");
    if (no_head && !exchange->tls && !exchange->proxy)
        err_append(err, "; does it speak TLS? Then its address begins with https://");
}

void exchange_error(const struct http_exchange *exchange, CURLcode result, struct err *err)
{
    const char *where = exchange->where;
    if (exchange->fenced) {
        err_set(err, ERR_CANCELLED, "%s: not sent: leadership was lost", where);
        return;
    }
    if (exchange->repeated) {
        reset_error(exchange, err);
        return;
    }
    if (tunnel_error(exchange, err)) return;
    if (exchange->switched) {
        err_set(err, ERR_PARSE, "%s: the server switched to another protocol, which was not requested",
                where);
        return;
    }
    switch (result) {
    case CURLE_OK: /* but without a head */
        err_set(err, ERR_CLOSED, "%s: connection closed before the response header was complete", where);
        break;
    case CURLE_WRITE_ERROR:
        if (exchange->refused || !exchange->has_response)
            err_set(err, ERR_CANCELLED, "refused by the reader");
        else /* libcurl's decoder refused it (T-5) */
            err_set(err, ERR_PARSE,
                    "%s: the compressed body goes on after its end: gzip of several members is not supported",
                    where);
        break;
    case CURLE_COULDNT_RESOLVE_HOST: not_connected(exchange, "cannot resolve the host's name", err); break;
    case CURLE_COULDNT_RESOLVE_PROXY: not_connected(exchange, "cannot resolve its name", err); break;
    case CURLE_PROXY: not_connected(exchange, detail(exchange, result), err); break;
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
    case CURLE_USE_SSL_FAILED: tls_error(exchange, result, err); break;
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
        err_set(err, ERR_PARSE, "%s: %s", where, detail(exchange, result));
        hint_at_tls(exchange, result, err);
        break;
    case CURLE_SEND_FAIL_REWIND: /* the connection broke when the body was on its way */
        reset_error(exchange, err);
        break;
    default:
        closed_error(exchange, result, err);
        if (err->code == ERR_CLOSED && !*err->reason) hint_at_tls(exchange, result, err);
    }
}
