/* Admin socket of an engine: accepts connections on the I/O thread and serves requests on the engine thread,
 * so that no slow or hostile client delays either. Owner: the engine, on the main thread: created before the
 * I/O thread runs, freed after it has stopped. `reply` is called on the engine thread. */
#pragma once
#include "app/admin/admin_call.h"
#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"
#include "script/vm/running.h"

struct admin_socket;

/* A method that begins a session: `begin` may take the call's connection and speak there for itself, once
 * all that the client wrote was the request, or reply as others do. No time limit is the socket's then. On
 * the engine thread. */
struct admin_session {
    const char *method;
    void (*begin)(void *ctx, struct admin_call *call);
    void *ctx;
};

struct admin_socket_options {
    struct loop *engine_loop, *io_loop;
    const char *path;
    int64_t idle_ms;  /* a client may be silent, and leave a reply unread, for so long; 0: 10 s */
    int64_t reply_ms; /* the engine thread has so long for a reply; 0: 5 s */
    /* Appends the result as JSON; false with an error for a method it does not know. */
    bool (*reply)(void *ctx, const char *method, struct buf *result, struct err *err);
    /* Called first; returns whether it takes the call, whose reply may take any time. NULL: takes none. */
    bool (*begin)(void *ctx, struct admin_call *call);
    const struct admin_session *sessions; /* registered sessions; borrowed */
    size_t session_count;
    void *ctx;
    struct running *running; /* explains a missing reply; borrowed; NULL: no explanation */
};

struct admin_socket *admin_socket_new(const struct admin_socket_options *options, struct err *err);
void admin_socket_free(struct admin_socket *socket);
