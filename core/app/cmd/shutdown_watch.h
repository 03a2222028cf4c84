/* Handles SIGINT and SIGTERM on a thread of its own: neither a blocked script nor a server that holds up the
 * I/O thread may block the operator (E-8). Owner: the engine, on the main thread: created before the I/O
 * thread runs, freed after it has stopped. `stop` is called on the engine thread; shutdown_watch_new blocks
 * the signals there for good. */
#pragma once
#include "net/loop.h"

struct shutdown_watch;

struct shutdown_watch_options {
    struct loop *engine_loop;
    void (*stop)(void *ctx, int signum);
    void *ctx;
    int64_t timeout_ms; /* for calls in flight */
};

struct shutdown_watch *shutdown_watch_new(const struct shutdown_watch_options *options);
void shutdown_watch_free(struct shutdown_watch *shutdown_watch);
