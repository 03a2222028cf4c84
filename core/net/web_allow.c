/* Servers to which scripts may send requests; see web.h. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/web.h"

struct allowed_target {
    char *scheme; /* NULL: both */
    char *host;   /* with a dot before it: any name that ends so */
    int port;     /* 0: the scheme's */
};

struct web_allow {
    struct allowed_target *items;
    size_t count;
};

static bool is_host(const char *host)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    size_t n = strlen(host);
    if (*host == '[')
        return n > 2 && host[n - 1] == ']' && strspn(host + 1, "0123456789abcdefABCDEF:.") == n - 2;
    return n > 0 && strspn(host, good) == n;
}

/* Behind the last colon, but for those of an address in brackets. False when it is no port. */
static bool cut_port(char *host, int *port)
{
    char *colon = strrchr(host, ':'), *end;
    *port = 0;
    if (!colon || strchr(colon, ']')) return true;
    long number = strtol(colon + 1, &end, 10);
    *colon = '\0';
    *port = (int)number;
    return end > colon + 1 && !*end && number > 0 && number < 65536;
}

static bool parse(const char *text, struct allowed_target *out, struct err *err)
{
    const char *rest = strstr(text, "://");
    *out = (struct allowed_target){0};
    if (rest) out->scheme = xstrndup(text, (size_t)(rest - text));
    rest = rest ? rest + 3 : text;
    bool any = strncmp(rest, "*.", 2) == 0;
    out->host = xstrdup(rest + any);
    bool good = !out->scheme || strcmp(out->scheme, "http") == 0 || strcmp(out->scheme, "https") == 0;
    good = good && cut_port(out->host, &out->port) && is_host(out->host + any);
    return good ||
           err_set(err, ERR_INVALID,
                   "\"%.100s\" is not a server: host, host:port, *.domain, or one of these behind https://",
                   text);
}

struct web_allow *web_allow_new(const char *const *hosts, size_t count, struct err *err)
{
    struct web_allow *allow = NEW(struct web_allow);
    bool ok = true;
    allow->items = xcalloc(count + 1, sizeof *allow->items);
    for (size_t i = 0; ok && i < count; i++) ok = parse(hosts[i], &allow->items[allow->count++], err);
    if (ok) return allow;
    web_allow_free(allow);
    return NULL;
}

void web_allow_free(struct web_allow *allow)
{
    if (!allow) return;
    for (size_t i = 0; i < allow->count; i++) {
        free(allow->items[i].scheme);
        free(allow->items[i].host);
    }
    free(allow->items);
    free(allow);
}

static bool fits(const struct allowed_target *entry, const char *scheme, const char *host, int port)
{
    size_t n = strlen(host), m = strlen(entry->host);
    int standard = strcasecmp(scheme, "https") == 0 ? 443 : 80;
    if (entry->scheme && strcasecmp(entry->scheme, scheme) != 0) return false;
    if (port != (entry->port ? entry->port : standard)) return false;
    if (*entry->host == '.') return n > m && strcasecmp(host + n - m, entry->host) == 0;
    return strcasecmp(host, entry->host) == 0;
}

static bool allows(const struct web_allow *allow, const char *scheme, const char *host, int port)
{
    for (size_t i = 0; i < allow->count; i++)
        if (fits(&allow->items[i], scheme, host, port)) return true;
    return false;
}

static bool refuse(struct err *err, const char *reason, const char *scheme, const char *host, int port)
{
    err_set(err, ERR_INVALID, "the operator does not allow %s://%s:%d: kubelua run --allow-http %s:%d",
            scheme, host, port, host, port);
    snprintf(err->reason, sizeof err->reason, "%s", reason);
    return false;
}

bool web_allows(const struct web_allow *allow, const char *text, struct err *err)
{
    char *scheme = NULL, *host = NULL, *port = NULL;
    CURLU *url = curl_url();
    CURLUcode rc = curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS);
    if (!rc) rc = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
    if (!rc) rc = curl_url_get(url, CURLUPART_HOST, &host, 0);
    if (!rc) rc = curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    bool is_web = !rc && (strcasecmp(scheme, "http") == 0 || strcasecmp(scheme, "https") == 0);
    bool ok = false;
    if (!is_web)
        err_set(err, ERR_INVALID, "no URL: it must begin with http:// or https:// and a host");
    else if (!allow || allows(allow, scheme, host, (int)strtol(port, NULL, 10)))
        ok = true;
    else
        refuse(err, "Forbidden", scheme, host, (int)strtol(port, NULL, 10));
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(url);
    return ok;
}
