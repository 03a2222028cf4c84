/* A proxy for units, on a thread of its own: HTTP's CONNECT and SOCKS5 with a user name, one connection after
 * the other, to 127.0.0.1 whatever host it is asked for. Owner: the test frees it; it may be asked for `seen`
 * when its transport is gone. */
#pragma once

struct tiny_proxy;

/* `user` NULL: it wants no user name. Else "user:password", and it refuses others. */
struct tiny_proxy *tiny_proxy_new(const char *user);
/* The same, but it refuses all with a response that never ends: `with`, then as many x as the peer reads. */
struct tiny_proxy *tiny_proxy_endless(const char *with);
/* Ends the thread; no connection may be open. */
void tiny_proxy_free(struct tiny_proxy *proxy);
int tiny_proxy_port(const struct tiny_proxy *proxy);
/* One line for each connection: "connect HOST:PORT", "socks5 HOST:PORT", "refused". */
const char *tiny_proxy_seen(struct tiny_proxy *proxy);
