/* A process that is measured, or that serves those: its lines are read and waited for, its messages kept for
 * the case that it fails, and it never outlives the command, however that ends.
 * Owner: its starter; bench_child_stop ends it. The main thread of `kubelua bench`; calls block. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct bench_child {
    char *name; /* for errors */
    pid_t pid;
    int64_t started_ns; /* monotonic */
    int output, messages;
    struct buf text; /* of lines that were not asked for yet */
    size_t taken;
    struct bench_child *needs; /* child without which no line will come; NULL: none. Borrowed */
};

/* From here on SIGINT and SIGTERM end the children, and waits for them fail with ERR_CANCELLED. */
void bench_children_guard(void);
bool bench_interrupted(void);

/* `argv` ends with NULL; its first word is looked for in PATH. `folder` is where it runs; NULL: here. */
struct bench_child *bench_child_start(const char *name, const char *const *argv, const char *folder,
                                      struct err *err);
/* Waits for the next line on stdout; it is good until the next call. ERR_TIMEOUT when none came for so long,
 * ERR_CLOSED when the process ended; the text names the process and shows its last message. */
bool bench_child_line(struct bench_child *child, int64_t timeout_ms, struct str *line, struct err *err);
/* False when it has ended by itself: `err` tells how. */
bool bench_child_alive(struct bench_child *child, struct err *err);
/* SIGTERM, and SIGKILL when that does not help. NULL is fine. */
void bench_child_stop(struct bench_child *child);
