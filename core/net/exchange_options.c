/* Options of libcurl for a request and its transport; see transport.h. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "net/redirect.h"
#include "net/transport_internal.h"

/* Measured with a storm of updates: 256 KiB save 1 us of 14 for each event of 9.4 KB against 64 KiB. With TLS
 * a read gives 16 KiB at most. A connection that brings little does not touch it all. What may be compressed
 * is read in smaller pieces: libcurl inflates the whole of one before it lets the loop go on, a thousand
 * times as much at worst, and keeps in memory what is not taken yet, 64 MiB at most. */
enum { RECEIVE_BUFFER = 256 << 10, RECEIVE_BUFFER_INFLATED = 32 << 10 };

enum { REQUESTS_MAX = 10 }; /* of one exchange, as in Go (H-20) */

enum {
    IDLE_CONNECTION_S = 90, /* T-2 */
    KEEPALIVE_IDLE_S = 30,  /* T-3: this line and the next two stand in for HTTP/2 pings */
    KEEPALIVE_INTERVAL_S = 5,
    UNACKNOWLEDGED_MS = 15000,
};

static int set_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
    const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS},
    };
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
    return CURL_SOCKOPT_OK;
}

static void set_blob(CURL *easy, CURLoption option, struct str pem)
{
    if (!pem.n) {
        curl_easy_setopt(easy, option, NULL);
        return;
    }
    struct curl_blob blob = {(void *)pem.p, pem.n,
                             CURL_BLOB_NOCOPY}; /* the transport outlives its exchanges */
    curl_easy_setopt(easy, option, &blob);
}

/* Trusts a TLS proxy like the server, as Go does, but presents no client certificate to it. */
static void set_proxy_tls(CURL *easy, const struct transport_options *options)
{
    curl_easy_setopt(easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, options->insecure_skip_tls_verify ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, options->insecure_skip_tls_verify ? 0L : 2L);
    if (!options->tls.ca_pem.n) return;
    curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, NULL);
    set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, options->tls.ca_pem);
}

void exchange_set_tls(const struct http_exchange *exchange)
{
    CURL *easy = exchange->easy;
    const struct transport_options *options = &exchange->transport->options;
    const struct transport_tls *tls = &options->tls;
    bool shows = !exchange->elsewhere;
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2); /* T-1 */
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, options->insecure_skip_tls_verify ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, options->insecure_skip_tls_verify ? 0L : 2L);
    if (tls->ca_pem.n) {
        curl_easy_setopt(easy, CURLOPT_CAPATH,
                         NULL); /* with a CA of its own only that one is trusted (T-1) */
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        set_blob(easy, CURLOPT_CAINFO_BLOB, tls->ca_pem);
    }
    curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
    curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
    set_blob(easy, CURLOPT_SSLCERT_BLOB, shows ? tls->client_cert_pem : (struct str){0});
    set_blob(easy, CURLOPT_SSLKEY_BLOB, shows ? tls->client_key_pem : (struct str){0});
    set_proxy_tls(easy, options);
}

void exchange_set_transport_options(struct http_exchange *exchange)
{
    CURL *easy = exchange->easy;
    const struct transport *transport = exchange->transport;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_CONNECTION_S);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)transport->connect_timeout_ms);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_socket);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, transport->options.user_agent);
    if (!transport->options.insecure_skip_tls_verify) exchange_require_names(exchange);
    exchange_set_tls(exchange);
}

/* libcurl reads the response of a proxy byte by byte, without leaving the loop for as long as there are some,
 * and calls this function for each. The connection that it opens calls the other one first. */
static int on_tunnel_step(void *ctx, curl_off_t down, curl_off_t got, curl_off_t up, curl_off_t sent)
{
    struct http_exchange *exchange = ctx;
    return exchange->tunnels && ++exchange->tunnel_steps > TUNNEL_STEPS_MAX;
}

static int set_proxy_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
    struct http_exchange *exchange = ctx;
    exchange->tunnels = true;
    exchange->tunnel_steps = 0;
    return set_socket(NULL, fd, purpose);
}

/* Sets the proxy (T-4). libcurl does not read the environment itself, as its rules differ from Go's
 * (no_proxy.h). */
static void set_proxy(struct http_exchange *exchange, const char *scheme, const char *host, const char *port)
{
    CURL *easy = exchange->easy;
    bool brackets = *host == '[';
    char *name = xstrndup(host + brackets, strlen(host) - (brackets ? 2 : 0));
    const struct proxy *proxy =
        proxies_find(exchange->transport->proxies, scheme, name, (int)strtol(port, NULL, 10));
    free(name);
    exchange->proxy = proxy;
    curl_easy_setopt(easy, CURLOPT_NOPROXY, proxy ? "" : "*");
    if (!proxy) return;
    curl_easy_setopt(easy, CURLOPT_PROXY, proxy->url);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* they are no response of the server */
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_proxy_socket);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_tunnel_step);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, exchange);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    if (proxy->user) curl_easy_setopt(easy, CURLOPT_PROXYUSERNAME, proxy->user);
    if (proxy->password) curl_easy_setopt(easy, CURLOPT_PROXYPASSWORD, proxy->password);
}

/* Verification and SNI go by the URL's host in libcurl. With a tls-server-name that name stands in the URL,
 * the connection goes to the real host, and the Host header keeps the real name. */
static bool set_url(struct http_exchange *exchange, const char *text, struct err *err)
{
    const char *server_name = exchange->transport->options.tls_server_name;
    char *scheme = NULL, *host = NULL, *port = NULL, *whole = NULL;
    CURLU *url = curl_url();
    CURLUcode rc = curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS);
    if (!rc) rc = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
    if (!rc) rc = curl_url_get(url, CURLUPART_HOST, &host, 0);
    if (!rc) rc = curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    exchange->tls = !rc && strcasecmp(scheme, "https") == 0;
    if (!rc) set_proxy(exchange, scheme, host, port);
    if (!rc && exchange->tls && server_name && *server_name) {
        char *to = xasprintf("::%s:%s", host, port), *header = xasprintf("Host: %s:%s", host, port);
        exchange->connect_to = curl_slist_append(NULL, to);
        exchange->headers = curl_slist_append(exchange->headers, header);
        curl_easy_setopt(exchange->easy, CURLOPT_CONNECT_TO, exchange->connect_to);
        free(to);
        free(header);
        rc = curl_url_set(url, CURLUPART_HOST, server_name, 0);
    }
    if (!rc) rc = curl_url_get(url, CURLUPART_URL, &whole, 0);
    if (!rc) {
        free(exchange->where);
        free(exchange->target);
        exchange->target = exchange->follow ? xstrdup(text) : NULL;
        exchange->where = xasprintf("%s:%s", host, port);
        curl_easy_setopt(exchange->easy, CURLOPT_URL, whole);
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(whole);
    curl_url_cleanup(url);
    return rc ? err_set(err, ERR_INVALID, "bad URL: %s", curl_url_strerror(rc)) : true;
}

/* A header with an empty value is written "Name;" for libcurl. Line ends would start another header. */
static bool add_header(struct http_exchange *exchange, const char *name, const char *value, struct err *err)
{
    if (strpbrk(name, "\r\n:") || strpbrk(value, "\r\n"))
        return err_set(err, ERR_INVALID, "header %s contains a line break",
                       strpbrk(name, "\r\n:") ? "name" : name);
    struct buf line = {0};
    buf_printf(&line, *value ? "%s: %s" : "%s;", name, value);
    exchange->headers = curl_slist_append(exchange->headers, buf_text(&line));
    buf_wipe(&line);
    return true;
}

bool exchange_add_header(struct http_exchange *exchange, const char *name, const char *value, struct err *err)
{
    if (!add_header(exchange, name, value, err)) return false;
    curl_easy_setopt(exchange->easy, CURLOPT_HTTPHEADER, exchange->headers);
    return true;
}

static size_t read_body(char *out, size_t size, size_t count, void *ctx)
{
    struct http_exchange *exchange = ctx;
    size_t left = exchange->body.n - exchange->body_sent, n = size * count < left ? size * count : left;
    if (left > 0 && !exchange_may_send(exchange)) return CURL_READFUNC_ABORT; /* no server acts on a part */
    if (n) memcpy(out, exchange->body.p + exchange->body_sent, n);
    exchange->body_sent += n;
    return n;
}

/* Sets a body that cannot be rewound: libcurl repeats a request, whatever its method, if a reused connection
 * breaks before a response. Once the first byte of a body was sent the server may have acted on it (H-4);
 * without a body that is unknown too. */
static void set_body(struct http_exchange *exchange, const struct http_request *request)
{
    struct str body = request->body;
    if (!request->body_stays) buf_str(&exchange->own_body, body);
    exchange->body = request->body_stays ? body : buf_slice(&exchange->own_body);
    curl_easy_setopt(exchange->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(exchange->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
    curl_easy_setopt(exchange->easy, CURLOPT_READFUNCTION, read_body);
    curl_easy_setopt(exchange->easy, CURLOPT_READDATA, exchange);
    exchange->headers = curl_slist_append(exchange->headers, "Expect:"); /* no waiting for 100 Continue */
}

/* Neither an open connection nor one that others might take. */
static void set_alone(struct http_exchange *exchange)
{
    exchange->alone = exchange->hurried = true;
    curl_easy_setopt(exchange->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(exchange->easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(exchange->easy, CURLOPT_FORBID_REUSE, 1L);
}

void exchange_free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *header = headers; header; header = header->next)
        explicit_bzero(header->data, strlen(header->data));
    curl_slist_free_all(headers);
}

/* Removes the headers that a redirect to another server drops, and the one that set_url adds. */
static void drop_headers(struct http_exchange *exchange, bool same)
{
    struct curl_slist *kept = NULL;
    for (const struct curl_slist *header = exchange->headers; header; header = header->next) {
        char *name = xstrndup(header->data, strcspn(header->data, ":;"));
        if (strcasecmp(name, "Host") != 0 && (same || !redirect_drops(name)))
            kept = curl_slist_append(kept, header->data);
        free(name);
    }
    exchange_free_headers(exchange->headers);
    exchange->headers = kept;
}

/* Returns the URL of the next request, or NULL with an error. */
static char *next_url(struct http_exchange *exchange, bool *same, struct err *err)
{
    char *location = exchange->location, *next = NULL;
    exchange->location = NULL;
    if (++exchange->redirects < REQUESTS_MAX)
        next = redirect_url(exchange->target, location, same, err);
    else
        err_set(err, ERR_LIMIT, "stopped after %d redirects", REQUESTS_MAX);
    free(location);
    if (!next) err_wrap(err, "%s", exchange->where);
    return next;
}

bool exchange_set_next(struct http_exchange *exchange, struct err *err)
{
    CURL *easy = exchange->easy;
    bool same = true;
    char *next = next_url(exchange, &same, err);
    if (!next) return false;
    drop_headers(exchange, same);
    exchange->elsewhere |= !same;
    if (!same) exchange->authorization = 0; /* what comes of it says nothing of ours */
    exchange_set_tls(exchange);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, NULL);
    curl_slist_free_all(exchange->connect_to);
    exchange->connect_to = NULL;
    bool ok = set_url(exchange, next, err);
    free(next);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    return ok;
}

bool exchange_set_request(struct http_exchange *exchange, const struct http_request *request, struct err *err)
{
    CURL *easy = exchange->easy;
    const char *method = request->method ? request->method : "GET";
    exchange->follow = request->follow;
    if (!set_url(exchange, request->url, err)) return false;
    for (const struct http_header *h = request->headers; h && h->name; h++)
        if (!add_header(exchange, h->name, h->value, err)) return false;
    if (request->body.p) set_body(exchange, request);
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (request->body.p || strcmp(method, "GET") != 0)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    exchange->once = !request->body.n && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
    if (request->fence) exchange->fence = fence_ref(request->fence);
    if (request->own_connection) set_alone(exchange);
    if (!request->no_compression) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip"); /* T-5 */
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE,
                     (long)(request->no_compression ? RECEIVE_BUFFER : RECEIVE_BUFFER_INFLATED));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers);
    return true;
}
