/* Proxies: the one of a kubeconfig, or those of the environment (T-4). Owner: its creator; everything else is
 * borrowed from it. May be called anywhere. No message shows user names or passwords. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

struct proxies;

struct proxy {
    char *url;             /* scheme://host:port, the scheme as libcurl writes it */
    char *user, *password; /* NULL without; secrets */
    char *where;           /* host:port, for messages */
};

/* `url` is for all requests; NULL: HTTPS_PROXY and HTTP_PROXY by the server's scheme, but for what NO_PROXY
 * names, localhost and loopback addresses. Lower-case names of the variables count when there are no others.
 * ERR_INVALID when an address cannot be used. */
struct proxies *proxies_new(const char *url, struct err *err);
void proxies_free(struct proxies *proxies);
/* Returns the proxy of a request; NULL for none. `host` is a name or an address, without brackets. */
const struct proxy *proxies_find(const struct proxies *proxies, const char *scheme, const char *host,
                                 int port);
/* Is this one of http, https and socks5 that can be used? */
bool proxy_check(const char *url, struct err *err);
