/* Program run on the loop: its output is gathered, its messages are delivered line by line, and no thread
 * waits for it. Owner: its starter, on the loop's thread. It is freed after on_end, or by child_kill.
 * Callbacks run on the loop's thread, never from inside child_start; on_line must not start or kill a child.
 * Children are also killed if the process ends at once (base/must.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

struct child;

struct child_options {
    const char *const *argv; /* ends with NULL; the first is looked for in PATH unless it has a slash */
    const char *const *env;  /* NAME=VALUE over the environment there is, later ones first; ends with NULL */
    size_t output_max;       /* bytes on stdout; beyond them it is killed */
    int64_t timeout_ms;      /* then it is killed; 0: never */
    bool interactive;        /* stdin and stderr are ours, else it reads nothing and on_line has its stderr */
};

struct child_callbacks {
    void (*on_line)(void *ctx, struct str line); /* of stderr, without its end; optional */
    /* Called when the child has ended. `err` is NULL for exit code 0, else ERR_TIMEOUT, ERR_LIMIT, or ERR_IO
     * "exit code 1", "killed by signal 9". `exit_code` is -1 when a signal ended it. `output` is wiped
     * afterwards. */
    void (*on_end)(void *ctx, int exit_code, struct str output, const struct err *err);
    void *ctx;
};

/* Starts a program. Returns NULL with ERR_NOT_FOUND if it does not exist, ERR_IO if it cannot be run; the
 * message does not name it. */
struct child *child_start(struct loop *loop, const struct child_options *options,
                          const struct child_callbacks *callbacks, struct err *err);
/* Kills it, with what it has started, and waits for its end, which is soon. No callback comes after it. */
void child_kill(struct child *child);
