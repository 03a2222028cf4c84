/* Listening socket on the loop, which can be closed for a while so that connections are refused. Owner: its
 * creator. sim_listener_refuse may be called from any thread, the rest belongs to the loop's thread. */
#pragma once
#include <sys/socket.h>

#include "base/err.h"
#include "net/loop.h"

struct sim_listener;

/* `accepted` takes the descriptor. */
struct sim_listener *sim_listener_new(struct loop *loop, const char *address, int port,
                                      void (*accepted)(void *ctx, int fd, const struct sockaddr *peer,
                                                       socklen_t len),
                                      void *ctx, struct err *err);
int sim_listener_port(const struct sim_listener *listener);
/* Closed at once, open again after so long. */
void sim_listener_refuse(struct sim_listener *listener, int64_t ms);
void sim_listener_free(struct sim_listener *listener);
