/* Addresses to listen on, as Kubernetes components take them: "127.0.0.1:8080", ":8081" (every address of the
 * machine), "[::1]:0" (any free port), "0" (do not listen).
 * Owner: the descriptor belongs to the caller. Before the loops run. */
#pragma once
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* "0" and "" switch a listener off. */
bool bind_address_is_off(const char *address);
/* Returns whether only processes of this machine reach it: all that its host resolves to is loopback. False
 * for what is not an address. */
bool bind_address_is_loopback(const char *address);
/* Returns a listening socket, or -1 with ERR_INVALID (not an address) or ERR_IO. Appends where it listens,
 * with the port that was picked. */
int bind_address_listen(const char *address, struct buf *where, struct err *err);
