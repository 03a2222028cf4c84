/* Whether the API server can be reached: one state for all requests of a client, so that an outage is one
 * line of the log and of the status, and its end wakes all that wait for another try. Unreachable is a server
 * to which no connection can be made, until the next response. Owner: the client, on the I/O thread, except
 * where said otherwise. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/err.h"

struct reachability;

/* Called on the I/O thread when the server responds again; it may not add or remove waiters. */
struct reach_waiter {
    TAILQ_ENTRY(reach_waiter) link;
    void (*fn)(void *ctx);
    void *ctx;
};

/* `server` and `cluster`, its name, are for the log; borrowed. NULL: the home cluster, which has none. */
struct reachability *reachability_new(const char *server, const char *cluster, struct clock *clock);
void reachability_free(struct reachability *reachability);
/* The server responded. */
void reachability_ok(struct reachability *reachability);
/* A request failed without a response: sets `unreachable` of the error if there was no connection. */
void reachability_failed(struct reachability *reachability, struct err *err);
/* Outages are logged while somebody waits. From any thread. */
void reachability_add(struct reachability *reachability, struct reach_waiter *waiter);
void reachability_remove(struct reachability *reachability, struct reach_waiter *waiter);
/* Returns the wall time since which the server is unreachable, and copies the error; 0: it is reachable. From
 * any thread. */
int64_t reachability_lost_us(struct reachability *reachability, struct err *err);
