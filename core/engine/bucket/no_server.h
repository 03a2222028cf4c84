/* In place of the API server where none is configured, as objects come from a bucket: each request fails with
 * an error that says so. Owner: the bucket; on the I/O thread. */
#pragma once
#include "net/http_local.h"
#include "net/loop.h"

struct no_server;

struct no_server *no_server_new(void);
/* Before the loop runs. */
void no_server_set_loop(struct no_server *server, struct loop *loop);
struct http_local *no_server_local(struct no_server *server);
/* After the last exchange. NULL is allowed. */
void no_server_free(struct no_server *server);
