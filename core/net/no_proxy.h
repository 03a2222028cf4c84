/* NO_PROXY as Go reads it, whose rules kubectl and controllers have (T-4): names with and without a dot
 * before them, ports, addresses, CIDRs, and *. libcurl 7.88 knows of these neither ports nor "*.name", and
 * would have localhost go through the proxy. Owner: nothing is kept. May be called anywhere. */
#pragma once
#include <stdbool.h>

/* Does `list`, parted by commas, name the server? `host` is a name or an address, without brackets. */
bool no_proxy_has(const char *list, const char *host, int port);
/* localhost, 127.0.0.0/8 and ::1 are never reached through a proxy of the environment. */
bool no_proxy_is_local(const char *host);
