/* Choice of the proxy of a request; see proxy.h. */
#include "net/url/proxy.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "net/url/no_proxy.h"

struct proxies {
    struct proxy *all, *https, *http; /* `all`, if set, is for every server */
    char *no_proxy;
};

static void free_proxy(struct proxy *proxy)
{
    if (!proxy) return;
    free(proxy->url);
    free(proxy->where);
    wipe(proxy->user);
    wipe(proxy->password);
    free(proxy);
}

/* Returns a part of the URL, or NULL. libcurl's copy is wiped, as the part may be a password. */
static char *take_part(CURLU *url, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return NULL;
    char *own = xstrdup(text);
    explicit_bzero(text, strlen(text));
    curl_free(text);
    return own;
}

/* Returns libcurl's scheme, or NULL if it is unknown. A SOCKS proxy resolves names itself, as in Go. */
static const char *known_scheme(const char *scheme)
{
    static const struct {
        const char *name, *curl;
    } schemes[] = {{"http", "http"}, {"https", "https"}, {"socks5", "socks5h"}, {"socks5h", "socks5h"}};
    for (size_t i = 0; scheme && i < ARRAY_LEN(schemes); i++)
        if (strcasecmp(scheme, schemes[i].name) == 0) return schemes[i].curl;
    return NULL;
}

static const char *default_port(const char *scheme)
{
    return strcmp(scheme, "http") == 0 ? "80" : strcmp(scheme, "https") == 0 ? "443" : "1080";
}

static struct proxy *read_parts(CURLU *url, struct err *err)
{
    char *scheme = take_part(url, CURLUPART_SCHEME, 0), *host = take_part(url, CURLUPART_HOST, 0),
         *port = take_part(url, CURLUPART_PORT, 0);
    const char *known = known_scheme(scheme);
    struct proxy *proxy = NULL;
    if (!known) {
        err_set(err, ERR_INVALID, "scheme must be http, https or socks5");
    } else if (!host || !*host) {
        err_set(err, ERR_INVALID, "missing host");
    } else {
        proxy = NEW(struct proxy);
        proxy->where = xasprintf("%s:%s", host, port ? port : default_port(known));
        proxy->url = xasprintf("%s://%s", known, proxy->where);
        proxy->user = take_part(url, CURLUPART_USER, CURLU_URLDECODE);
        proxy->password = take_part(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
    }
    free(scheme);
    free(host);
    free(port);
    return proxy;
}

/* Appends the address as written, without parts that may be secret: users, passwords, and everything after
 * the host. A password may contain any character, but the host's @ is the last. */
static void put_shown(const char *text, struct buf *out)
{
    const char *slashes = strstr(text, "://"), *at = strrchr(text, '@');
    const char *host = slashes ? slashes + 3 : text;
    if (slashes && (!at || slashes < at)) buf_append(out, text, (size_t)(host - text));
    if (at) host = at + 1;
    buf_append(out, host, strcspn(host, "/?#"));
}

/* Parses an address; with `guess` one without a scheme is http. */
static struct proxy *parse(const char *text, bool guess, struct err *err)
{
    CURLU *url = curl_url();
    char *full = guess && !strstr(text, "://") ? xasprintf("http://%s", text) : xstrdup(text);
    CURLUcode rc = curl_url_set(url, CURLUPART_URL, full, CURLU_NON_SUPPORT_SCHEME);
    struct proxy *proxy = NULL;
    if (rc)
        err_set(err, ERR_INVALID, "bad address: %s", curl_url_strerror(rc));
    else
        proxy = read_parts(url, err);
    struct buf shown = {0};
    put_shown(text, &shown);
    if (!proxy && shown.len) err_wrap(err, "%s", buf_text(&shown));
    buf_clear(&shown);
    curl_url_cleanup(url);
    wipe(full);
    return proxy;
}

bool proxy_check(const char *url, struct err *err)
{
    struct proxy *proxy = parse(url, false, err);
    free_proxy(proxy);
    return proxy != NULL;
}

static const char *variable(const char *upper, const char *lower)
{
    const char *text = nonempty(getenv(upper));
    return text ? text : nonempty(getenv(lower));
}

static bool read_variable(const char *upper, const char *lower, struct proxy **out, struct err *err)
{
    const char *text = variable(upper, lower);
    if (!text) return true;
    *out = parse(text, true, err);
    return *out || err_wrap(err, "the environment's %s", upper);
}

struct proxies *proxies_new(const char *url, struct err *err)
{
    struct proxies *proxies = NEW(struct proxies);
    bool ok;
    if (url && *url) {
        proxies->all = parse(url, false, err);
        ok = proxies->all != NULL;
    } else {
        proxies->no_proxy = xstrdup(variable("NO_PROXY", "no_proxy"));
        ok = read_variable("HTTPS_PROXY", "https_proxy", &proxies->https, err) &&
             read_variable("HTTP_PROXY", "http_proxy", &proxies->http, err);
    }
    if (ok) return proxies;
    proxies_free(proxies);
    return NULL;
}

void proxies_free(struct proxies *proxies)
{
    if (!proxies) return;
    free_proxy(proxies->all);
    free_proxy(proxies->https);
    free_proxy(proxies->http);
    free(proxies->no_proxy);
    free(proxies);
}

const struct proxy *proxies_find(const struct proxies *proxies, const char *scheme, const char *host,
                                 int port)
{
    if (!proxies) return NULL;
    if (proxies->all) return proxies->all;
    const struct proxy *proxy = strcasecmp(scheme, "https") == 0 ? proxies->https : proxies->http;
    if (!proxy || no_proxy_is_local(host)) return NULL;
    return proxies->no_proxy && no_proxy_has(proxies->no_proxy, host, port) ? NULL : proxy;
}
