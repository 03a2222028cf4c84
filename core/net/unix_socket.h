/* The unix socket between a running engine and `kubelua status`: its path, listening, connecting.
 * Owner: descriptors belong to the caller. Not from callbacks, but for unix_socket_remove. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* /run/kubelua.sock for root, $XDG_RUNTIME_DIR/kubelua.sock else; NULL without such a folder. The caller
 * frees it. */
char *unix_socket_default_path(void);

/* Of an engine that is asked: `path`, or the default one without. NULL with an error; the caller frees it. */
char *unix_socket_choose_path(const char *path, struct err *err);

struct unix_socket_file {
    dev_t device;
    ino_t inode;
    int lock; /* on `PATH.lock`, until unix_socket_remove */
};

/* Only the owner may connect (mode 0600). A file that a dead process left is replaced; one that another
 * process listens on, or that is no socket, is ERR_IO. Of processes that ask at once one listens. -1 with an
 * error that names the path. */
int unix_socket_listen(const char *path, struct unix_socket_file *file, struct err *err);
/* Removes the file, unless another process has put its own there meanwhile, and lets others listen. */
void unix_socket_remove(const char *path, const struct unix_socket_file *file);
/* -1 with ERR_CONNECT when nobody listens there, ERR_INVALID or ERR_IO. Reads and writes give up after
 * `timeout_ms`. */
int unix_socket_connect(const char *path, int timeout_ms, struct err *err);
