/* Unix socket between a running engine and `kubelua status`: its path, listening, connecting. Owner:
 * descriptors belong to the caller. Not from callbacks, except unix_socket_remove. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Returns /run/kubelua.sock for root, else $XDG_RUNTIME_DIR/kubelua.sock; NULL without such a directory. The
 * caller frees it. */
char *unix_socket_default_path(void);

/* Returns the path of the engine to call: `path`, or the default one. NULL with an error; the caller frees
 * it. */
char *unix_socket_choose_path(const char *path, struct err *err);

struct unix_socket_file {
    dev_t device;
    ino_t inode;
    int lock; /* on `PATH.lock`, until unix_socket_remove */
};

/* Listens; only the owner may connect (mode 0600). Replaces the file of a dead process; ERR_IO if another
 * process listens on it, or if it is not a socket. Of processes that call at once one listens. Returns -1
 * with an error that names the path. */
int unix_socket_listen(const char *path, struct unix_socket_file *file, struct err *err);
/* Removes the file, unless another process has created its own meanwhile, and lets others listen. */
void unix_socket_remove(const char *path, const struct unix_socket_file *file);
/* Connects. Returns -1 with ERR_CONNECT if no process listens, ERR_INVALID or ERR_IO. Reads and writes fail
 * after `timeout_ms`. */
int unix_socket_connect(const char *path, int timeout_ms, struct err *err);
