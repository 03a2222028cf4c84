/* NO_PROXY with the rules of Go, which kubectl and controllers have (T-4): names with and without a leading
 * dot, ports, addresses, CIDRs, and *. libcurl 7.88 supports neither ports nor "*.name", and would send
 * localhost through the proxy. Owner: stateless. May be called anywhere. */
#pragma once
#include <stdbool.h>

/* Does `list`, parted by commas, name the server? `host` is a name or an address, without brackets. */
bool no_proxy_has(const char *list, const char *host, int port);
/* localhost, 127.0.0.0/8 and ::1 are never reached through a proxy of the environment. */
bool no_proxy_is_local(const char *host);
