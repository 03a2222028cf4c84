/* An admin socket and clients of it: two loops play the two threads, or one of them both. Owner: the spec.
 * What waits for something that never happens fails after 20 seconds. */
#pragma once
#include <stdbool.h>

#include "app/admin/admin_socket.h"
#include "base/err.h"
#include "net/loop.h"

struct admin_fixture {
    struct loop *loop, *engine; /* of the I/O thread, and of the engine thread */
    struct admin_socket *socket;
    char folder[32], path[64]; /* the socket's */
    struct err err;            /* the last one */
    struct timer guard;
};

extern struct admin_fixture admin;

/* For cmocka, around a group: the folder. */
int admin_make_folder(void **state);
int admin_remove_folder(void **state);
/* Clients have 50 ms for a word, and the engine thread as many for an answer. "session" begins a session. */
void admin_open(bool (*answer)(void *ctx, const char *method, struct buf *result, struct err *err),
                bool (*begin)(void *ctx, struct admin_call *question));
void admin_close(void);
/* A client that does not block. */
int admin_dial(void);
void admin_say(int fd, const char *text);
/* Runs the I/O thread's loop for so long; gives how often it turned. */
int admin_run_io(int64_t ms);
