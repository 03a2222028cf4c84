/* A server with one Lease, "ops/rules", and the ways of candidates to it. Each way is played by hand, or
 * answers by itself after a while; the server checks versions as the real one does.
 * Owner: the spec. */
#pragma once
#include "base/buf.h"
#include "core/informer/support/objects.h"
#include "informer/leader/leader.h"

struct lease_server {
    struct buf lease; /* its JSON; empty: there is none */
    int version;
};

void lease_server_clear(struct lease_server *server);
/* A lease that somebody else wrote: the JSON of its spec. */
void lease_server_put(struct lease_server *server, const char *spec);
/* The lease has this text in it. */
void assert_lease_has(const struct lease_server *server, const char *text);
void assert_lease_lacks(const struct lease_server *server, const char *text);

struct lease_way {
    struct lease_source source; /* for a leader */
    struct lease_server *server;
    enum lease_verb verb; /* of the question that is open */
    struct buf body;
    int64_t timeout_ms;
    void (*done)(void *ctx, struct root *lease, const struct err *err); /* NULL: no question is open */
    void *done_ctx;
    int served;        /* the status of what was done already; 0: nothing was */
    struct buf answer; /* with the lease as it was then */
    size_t asked, cancelled;
};

void lease_way_init(struct lease_way *way, struct lease_server *server);
void lease_way_clear(struct lease_way *way);
/* "get", "create", "update"; "" when no question is open. */
const char *lease_way_open(const struct lease_way *way);
/* The server does what is asked; the answer is on its way. */
void lease_way_serve(struct lease_way *way);
/* The answer comes: 200, 404 or 409, of what was served already, or is now. */
void lease_way_answer(struct lease_way *way);
/* It does what is asked, and the answer is lost. */
void lease_way_lose_answer(struct lease_way *way);
/* It does nothing. `status` 0: no connection. */
void lease_way_refuse(struct lease_way *way, int status);
