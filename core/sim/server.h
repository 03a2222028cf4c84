/* The simulated API server put together: store, HTTP, data, scenario.
 * Owner: whoever made it. Everything belongs to the loop's thread; requests are served on threads of their
 * own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"

struct sim_server;

struct sim_server_options {
    const char *listen;
    int port; /* 0: any */
    size_t pods, replicas;
    bool watch_cache, gzip;
    int64_t bookmark_ms;
};

/* NULL with an error that names what is wrong. Ready for requests when it returns. */
struct sim_server *sim_server_new(struct loop *loop, const struct sim_server_options *options,
                                  struct err *err);
int sim_server_port(const struct sim_server *server);
/* Ends all streams and connections. */
void sim_server_free(struct sim_server *server);
